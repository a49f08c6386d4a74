package ai.deltafin.server;

import ai.deltafin.chat.ContentPart;
import ai.deltafin.chat.Message;
import ai.deltafin.chat.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Puts an answer together again that an API carries in pieces: reasoning, text and calls that follow each other are one
 * message of the assistant.
 */
final class Turns {

    private final List<Message> messages = new ArrayList<>();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<ContentPart> content = new ArrayList<>();
    private final List<ToolCall> calls = new ArrayList<>();
    private boolean open;

    /** A message that is not the assistant's; it ends an answer. */
    void add(Message message) {
        close();
        messages.add(message);
    }

    /** Reasoning begins an answer, or goes on where nothing was said yet. */
    void reasoning(String text) {
        if (!content.isEmpty() || !calls.isEmpty()) {
            close();
        }
        open = true;
        reasoning.append(text);
    }

    /** Text of an answer; after calls a new answer begins. */
    void content(List<ContentPart> parts) {
        if (!calls.isEmpty()) {
            close();
        }
        open = true;
        content.addAll(parts);
    }

    void call(ToolCall call) {
        open = true;
        calls.add(call);
    }

    private void close() {
        if (open) {
            messages.add(new Message.Assistant(content, null, reasoning.toString(), calls, false));
            reasoning.setLength(0);
            content.clear();
            calls.clear();
            open = false;
        }
    }

    /** Every message, in order. */
    List<Message> finish() {
        close();
        return List.copyOf(messages);
    }
}
