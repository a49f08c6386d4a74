package ai.deltafin.chat;

import ai.deltafin.chat.AnswerEvent.ContentDelta;
import ai.deltafin.chat.AnswerEvent.Finished;
import ai.deltafin.chat.AnswerEvent.ReasoningDelta;
import ai.deltafin.chat.AnswerEvent.ToolArgumentsDelta;
import ai.deltafin.chat.AnswerEvent.ToolCallCut;
import ai.deltafin.chat.AnswerEvent.ToolCallEnded;
import ai.deltafin.chat.AnswerEvent.ToolCallStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads an answer id by id and tells what it says: reasoning, content, tool calls. No marker ever shows in any of them,
 * and broken markup is read as far as it has a meaning (the table is in {@code docs/chat.md}). For one thread.
 */
public final class AnswerParser {

    /**
     * What the parser must know of the request.
     *
     * @param thinking whether the prompt opened the think channel (else the response channel)
     * @param toolsOffered whether calls may reach the client; if not they are swallowed
     * @param stops stop strings; they act on the content only
     */
    public record Options(boolean thinking, boolean toolsOffered, List<String> stops) {
        public Options {
            stops = List.copyOf(stops);
        }

        /** For the answer to a request. */
        public static Options of(ChatRequest request, List<String> stops) {
            return new Options(request.thinking().on(), request.offersTools(), stops);
        }
    }

    /** Why no more ids come. */
    public enum End {
        /** The model wrote a stop id, or a stop string was met. */
        STOPPED,
        /** The token limit, or the caller, ended it. */
        LIMIT
    }

    private enum State {
        THINK,
        RESPONSE,
        BETWEEN,
        TOOLS,
        CALL,
        VALUE,
        SKIPPED_CALL,
        DONE
    }

    private final Tokenizer tokenizer;
    private final boolean toolsOffered;
    private final StopMatcher stops;
    private final AnswerFramer framer;
    private List<AnswerEvent> events = new ArrayList<>();
    private State state;
    private CallArguments arguments = new CallArguments();
    private int calls;
    private int reasoningTokens;
    private boolean finished;

    /** A parser at the first generated id. */
    public AnswerParser(Tokenizer tokenizer, Options options) {
        this.tokenizer = tokenizer;
        toolsOffered = options.toolsOffered();
        stops = new StopMatcher(options.stops());
        state = options.thinking() ? State.THINK : State.RESPONSE;
        framer = new AnswerFramer(tokenizer, new AnswerFramer.Sink() {
            @Override
            public void text(String text) {
                AnswerParser.this.text(text);
            }

            @Override
            public void textToken() {
                if (state == State.THINK) {
                    reasoningTokens++;
                }
            }

            @Override
            public void open(Header header) {
                AnswerParser.this.open(header);
            }

            @Override
            public void close(Header header) {
                AnswerParser.this.close(header.tag().isEmpty() ? innermost() : header.tag());
            }
        });
    }

    /**
     * Takes the next generated id and gives what it adds. A stop id finishes the answer; what comes after is ignored.
     *
     * @throws IllegalArgumentException if the id has no token
     */
    public List<AnswerEvent> push(int id) {
        if (!finished) {
            if (tokenizer.controls().isStop(id)) {
                return finish(End.STOPPED);
            }
            framer.push(id);
            if (stops.matched() != null) {
                return finish(End.STOPPED);
            }
        }
        return take();
    }

    /** No more ids come: gives what was held back, and the end. Nothing if the answer is finished already. */
    public List<AnswerEvent> finish(End end) {
        if (!finished) {
            finished = true;
            framer.finish(end == End.LIMIT);
            releaseContent();
            if (inCall() && toolsOffered) {
                events.add(new ToolCallCut(calls - 1));
            }
            events.add(new Finished(reason(end)));
        }
        return take();
    }

    private FinishReason reason(End end) {
        if (end == End.LIMIT) {
            return FinishReason.LENGTH;
        }
        int ended = calls - (inCall() ? 1 : 0);
        return ended > 0 && stops.matched() == null && toolsOffered ? FinishReason.TOOL_CALLS : FinishReason.STOP;
    }

    /** Whether the answer is over. */
    public boolean finished() {
        return finished;
    }

    /** The stop string that ended the answer, or null. */
    public @Nullable String stopString() {
        return stops.matched();
    }

    /** Ids of text the model has thought so far. */
    public int reasoningTokens() {
        return reasoningTokens;
    }

    private List<AnswerEvent> take() {
        List<AnswerEvent> taken = events;
        events = new ArrayList<>();
        return taken;
    }

    private void text(String text) {
        switch (state) {
            case THINK -> events.add(new ReasoningDelta(text));
            case RESPONSE -> content(stops.push(text));
            case VALUE -> arguments(arguments.text(text));
            case BETWEEN, TOOLS, CALL, SKIPPED_CALL, DONE -> {}
        }
    }

    private void content(String text) {
        if (!text.isEmpty()) {
            events.add(new ContentDelta(text));
        }
    }

    private void releaseContent() {
        content(stops.finish());
    }

    private void arguments(String json) {
        if (!json.isEmpty() && toolsOffered) {
            events.add(new ToolArgumentsDelta(calls - 1, json));
        }
    }

    private void open(Header header) {
        switch (state) {
            case THINK, RESPONSE, BETWEEN -> openChannel(header.tag());
            case TOOLS, SKIPPED_CALL -> {
                if (header.tag().equals("call")) {
                    beginCall(header);
                }
            }
            case CALL, VALUE -> openInCall(header);
            case DONE -> {}
        }
    }

    private void openChannel(String tag) {
        State opened = switch (tag) {
            case "think" -> State.THINK;
            case "response" -> State.RESPONSE;
            case "tools" -> State.TOOLS;
            default -> state;
        };
        if (opened != state) {
            leaveChannel(opened);
        }
    }

    private void leaveChannel(State next) {
        if (state == State.RESPONSE) {
            releaseContent();
        }
        state = next;
    }

    private void openInCall(Header header) {
        switch (header.tag()) {
            case "argument" -> {
                closeValue();
                arguments(arguments.openArgument(header.attribute("key"), header.attribute("type")));
                state = State.VALUE;
            }
            case "json" -> {
                closeValue();
                arguments.openJson();
                state = State.VALUE;
            }
            case "call" -> {
                endCall();
                beginCall(header);
            }
            default -> {}
        }
    }

    private void beginCall(Header header) {
        String name = header.attribute("tool");
        if (name == null || name.isEmpty()) {
            state = State.SKIPPED_CALL;
            return;
        }
        state = State.CALL;
        arguments = new CallArguments();
        int index = calls++;
        if (toolsOffered) {
            String id = "call_" + UUID.randomUUID().toString().replace("-", "");
            events.add(new ToolCallStarted(index, id, name));
        }
    }

    private void closeValue() {
        if (state == State.VALUE) {
            arguments(arguments.closeValue());
            state = State.CALL;
        }
    }

    private void endCall() {
        if (inCall()) {
            closeValue();
            arguments(arguments.end());
            if (toolsOffered) {
                events.add(new ToolCallEnded(calls - 1));
            }
        }
        state = State.TOOLS;
    }

    private boolean inCall() {
        return state == State.CALL || state == State.VALUE;
    }

    private String innermost() {
        return switch (state) {
            case THINK -> "think";
            case RESPONSE -> "response";
            case TOOLS -> "tools";
            case CALL, SKIPPED_CALL -> "call";
            case VALUE -> "argument";
            case BETWEEN, DONE -> "message";
        };
    }

    private void close(String tag) {
        switch (state) {
            case THINK -> closeChannel(tag, "think");
            case RESPONSE -> closeChannel(tag, "response");
            case BETWEEN -> closeChannel(tag, "message");
            case TOOLS, CALL, VALUE, SKIPPED_CALL -> closeInTools(tag);
            case DONE -> {}
        }
    }

    private void closeChannel(String tag, String own) {
        if (tag.equals("message")) {
            leaveChannel(State.DONE);
        } else if (tag.equals(own)) {
            leaveChannel(State.BETWEEN);
        }
    }

    private void closeInTools(String tag) {
        switch (tag) {
            case "argument", "json" -> closeValue();
            case "call" -> endCall();
            case "tools" -> {
                endCall();
                state = State.BETWEEN;
            }
            case "message" -> {
                endCall();
                state = State.DONE;
            }
            default -> {}
        }
    }
}
