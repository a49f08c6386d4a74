package ai.deltafin.chat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A complete answer.
 *
 * @param calls the calls that were completed, in order
 */
public record Answer(String reasoning, String content, List<Call> calls, FinishReason finishReason) {

    /** A completed tool call. */
    public record Call(String id, String name, String arguments) {}

    public Answer {
        calls = List.copyOf(calls);
    }

    /** The answer as a message of the history that follows it. */
    public Message.Assistant asMessage() {
        List<ToolCall> made = calls.stream()
                .map(c -> ToolCall.of(c.id(), c.name(), c.arguments()))
                .toList();
        return new Message.Assistant(ContentPart.ofText(content), null, reasoning, made, false);
    }

    /** Puts an answer together from its events. */
    public static final class Assembler {

        private static final class Open {
            final String id;
            final String name;
            final StringBuilder arguments = new StringBuilder();
            boolean ended;

            Open(String id, String name) {
                this.id = id;
                this.name = name;
            }
        }

        private final StringBuilder reasoning = new StringBuilder();
        private final StringBuilder content = new StringBuilder();
        private final List<Open> calls = new ArrayList<>();
        private @Nullable FinishReason finishReason;

        /** Adds what the parser gave. */
        public void accept(List<AnswerEvent> events) {
            for (AnswerEvent event : events) {
                switch (event) {
                    case AnswerEvent.ReasoningDelta delta -> reasoning.append(delta.text());
                    case AnswerEvent.ContentDelta delta -> content.append(delta.text());
                    case AnswerEvent.ToolCallStarted call -> calls.add(new Open(call.id(), call.name()));
                    case AnswerEvent.ToolArgumentsDelta delta ->
                        calls.get(delta.index()).arguments.append(delta.json());
                    case AnswerEvent.ToolCallEnded call -> calls.get(call.index()).ended = true;
                    case AnswerEvent.ToolCallCut call -> calls.get(call.index()).ended = false;
                    case AnswerEvent.Finished end -> finishReason = end.reason();
                }
            }
        }

        /**
         * The answer; calls that were cut are left out.
         *
         * @throws IllegalStateException if it is not finished
         */
        public Answer answer() {
            if (finishReason == null) {
                throw new IllegalStateException("the answer is not finished");
            }
            List<Call> complete = calls.stream()
                    .filter(c -> c.ended)
                    .map(c -> new Call(c.id, c.name, c.arguments.toString()))
                    .toList();
            return new Answer(reasoning.toString(), content.toString(), complete, finishReason);
        }
    }
}
