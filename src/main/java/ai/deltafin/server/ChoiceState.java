package ai.deltafin.server;

import ai.deltafin.chat.AnswerEvent;
import ai.deltafin.pipeline.FinishReason;
import ai.deltafin.pipeline.GenerationEvent;
import ai.deltafin.pipeline.Logprob;
import java.util.ArrayList;
import java.util.List;

/** One choice put together from its events. */
final class ChoiceState {

    /** A call as far as it has come. */
    static final class Call {
        final String id;
        final String name;
        final StringBuilder arguments = new StringBuilder();
        boolean ended;

        Call(String id, String name) {
            this.id = id;
            this.name = name;
        }
    }

    final StringBuilder reasoning = new StringBuilder();
    final StringBuilder content = new StringBuilder();
    final List<Call> calls = new ArrayList<>();
    final List<Logprob> logprobs = new ArrayList<>();

    /** Adds new tokens. */
    void add(GenerationEvent.Tokens tokens) {
        content.append(tokens.text());
        logprobs.addAll(tokens.logprobs());
        for (AnswerEvent event : tokens.parsed()) {
            switch (event) {
                case AnswerEvent.ReasoningDelta delta -> reasoning.append(delta.text());
                case AnswerEvent.ContentDelta delta -> content.append(delta.text());
                case AnswerEvent.ToolCallStarted call -> calls.add(new Call(call.id(), call.name()));
                case AnswerEvent.ToolArgumentsDelta delta ->
                    calls.get(delta.index()).arguments.append(delta.json());
                case AnswerEvent.ToolCallEnded call -> calls.get(call.index()).ended = true;
                case AnswerEvent.ToolCallCut cut -> calls.get(cut.index()).ended = false;
                case AnswerEvent.Finished end -> {}
            }
        }
    }

    /** Calls that were completed. */
    List<Call> endedCalls() {
        return calls.stream().filter(call -> call.ended).toList();
    }

    /** Whether the answer asks for tools: the model ended it, having completed a call. */
    boolean callsTools(FinishReason reason) {
        return reason == FinishReason.END && !endedCalls().isEmpty();
    }

    /** The older OpenAI APIs' word for the end. */
    String finishReason(FinishReason reason) {
        return switch (reason) {
            case LENGTH, CANCELLED -> "length";
            case STOP -> "stop";
            case END -> callsTools(reason) ? "tool_calls" : "stop";
        };
    }
}
