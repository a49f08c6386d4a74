package ai.deltafin.chat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Matches tool results with the calls they answer. A run of consecutive results whose ids are all calls of the last
 * answer before it is put in the order of the calls; a run with one unknown id stays as it came.
 */
final class ToolResults {

    /** A result at its place: the tool's name and the number the format gives it. */
    record Placed(Message.Tool message, String tool, int index) {}

    private record Matched(Message.Tool message, int call) {}

    private final Map<Integer, Placed> byPlace = new HashMap<>();
    private List<ToolCall> calls = List.of();
    private int results;

    ToolResults(List<Message> messages) {
        int at = 0;
        while (at < messages.size()) {
            if (messages.get(at) instanceof Message.Tool) {
                at = run(messages, at);
            } else {
                if (messages.get(at) instanceof Message.Assistant assistant) {
                    calls = assistant.calls();
                    results = 0;
                }
                at++;
            }
        }
    }

    /** What stands where the request has its message {@code i}, a tool message. */
    Placed at(int i) {
        Placed placed = byPlace.get(i);
        if (placed == null) {
            throw new IllegalArgumentException("message " + i + " is no tool result");
        }
        return placed;
    }

    /** Places the run of results that begins here; returns the index behind it. */
    private int run(List<Message> messages, int start) {
        List<Matched> run = new ArrayList<>();
        int end = start;
        for (; end < messages.size() && messages.get(end) instanceof Message.Tool tool; end++) {
            run.add(new Matched(tool, callOf(tool)));
        }
        boolean allKnown = run.stream().allMatch(m -> m.call() >= 0);
        if (allKnown) {
            run.sort(Comparator.comparingInt(Matched::call));
        }
        for (int i = 0; i < run.size(); i++) {
            Message.Tool tool = run.get(i).message();
            String name = allKnown ? calls.get(run.get(i).call()).name() : nameOf(tool, start + i);
            byPlace.put(start + i, new Placed(tool, name, ++results));
        }
        return end;
    }

    private int callOf(Message.Tool tool) {
        for (int i = 0; i < calls.size(); i++) {
            if (tool.callId() != null && tool.callId().equals(calls.get(i).id())) {
                return i;
            }
        }
        return -1;
    }

    private String nameOf(Message.Tool tool, int place) {
        if (tool.tool() != null && !tool.tool().isEmpty()) {
            return tool.tool();
        }
        if (results < calls.size()) {
            return calls.get(results).name();
        }
        throw new ChatException(
                "messages[" + place + "].tool_call_id",
                "a tool result without a call it could belong to; name the call's id, or the tool");
    }
}
