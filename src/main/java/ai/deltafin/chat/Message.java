package ai.deltafin.chat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A message of a conversation. Missing, null and empty content are all the empty list. */
public sealed interface Message {

    /** What the message says, part by part. */
    List<ContentPart> content();

    /**
     * Instructions. With {@code tools} it declares further tools in place, and then has no content of its own. A
     * developer message is one of these. The name is the role's, and is used qualified.
     */
    @SuppressWarnings("AvoidCommonTypeNames")
    record System(List<ContentPart> content, @Nullable String name, List<ToolDef> tools) implements Message {
        public System {
            content = List.copyOf(content);
            tools = List.copyOf(tools);
        }

        /** Plain instructions. */
        public static System of(String text) {
            return new System(ContentPart.ofText(text), null, List.of());
        }
    }

    /** What the user says. */
    record User(List<ContentPart> content, @Nullable String name) implements Message {
        public User {
            content = List.copyOf(content);
        }

        /** Plain text. */
        public static User of(String text) {
            return new User(ContentPart.ofText(text), null);
        }
    }

    /**
     * An earlier answer of the model.
     *
     * @param reasoning what it thought, empty if nothing or not sent back
     * @param partial whether the answer is to be continued; only the last message may say so
     */
    record Assistant(
            List<ContentPart> content, @Nullable String name, String reasoning, List<ToolCall> calls, boolean partial)
            implements Message {
        public Assistant {
            content = List.copyOf(content);
            calls = List.copyOf(calls);
        }

        /** A plain answer with what was thought before it. */
        public static Assistant of(String reasoning, String text) {
            return new Assistant(ContentPart.ofText(text), null, reasoning, List.of(), false);
        }

        /**
         * The same message with a leading {@code <think>...</think>} of its content moved to the reasoning, for clients
         * that send reasoning back so; the message itself if there is none, or if it has reasoning already. Line ends
         * behind the closing tag go with it.
         */
        public Assistant withThinkTagsAsReasoning() {
            if (!reasoning.isEmpty()
                    || content.isEmpty()
                    || !(content.getFirst() instanceof ContentPart.Text first)
                    || !first.text().startsWith("<think>")) {
                return this;
            }
            int end = first.text().indexOf("</think>");
            if (end < 0) {
                return this;
            }
            String thought = first.text().substring("<think>".length(), end);
            String rest = first.text().substring(end + "</think>".length());
            List<ContentPart> parts = new ArrayList<>(ContentPart.ofText(rest.replaceFirst("^[\r\n]+", "")));
            parts.addAll(content.subList(1, content.size()));
            return new Assistant(parts, name, thought, calls, partial);
        }
    }

    /**
     * The result of a tool call.
     *
     * @param callId the call it answers; null matches none
     * @param tool the tool's name if the message gives one
     */
    record Tool(
            List<ContentPart> content,
            @Nullable String callId,
            @Nullable String tool) implements Message {
        public Tool {
            content = List.copyOf(content);
        }

        /** A plain result. */
        public static Tool of(String callId, String text) {
            return new Tool(ContentPart.ofText(text), callId, null);
        }
    }

    /**
     * A message of a role the format does not know. The released encoder renders nothing for it, and so do we; a server
     * refuses or maps it before.
     */
    record Unknown(String role) implements Message {
        @Override
        public List<ContentPart> content() {
            return List.of();
        }
    }
}
