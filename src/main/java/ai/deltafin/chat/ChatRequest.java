package ai.deltafin.chat;

import java.util.List;

/**
 * All that the prompt of a chat is made from.
 *
 * @param tools tools declared at the front
 * @param imagePrompts one prompt for each image, in order; with none, an image reads as a placeholder
 * @param generationPrompt whether the prompt ends by opening the model's answer
 */
public record ChatRequest(
        List<Message> messages,
        List<ToolDef> tools,
        Thinking thinking,
        ToolChoice toolChoice,
        ResponseFormat responseFormat,
        List<String> imagePrompts,
        boolean generationPrompt) {

    public ChatRequest {
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        imagePrompts = List.copyOf(imagePrompts);
    }

    /** A plain conversation: no tools, free text. */
    public static ChatRequest of(List<Message> messages, Thinking thinking) {
        return new ChatRequest(
                messages, List.of(), thinking, ToolChoice.AUTO, new ResponseFormat.Text(), List.of(), true);
    }

    /** The same request with other messages. */
    public ChatRequest withMessages(List<Message> others) {
        return new ChatRequest(others, tools, thinking, toolChoice, responseFormat, imagePrompts, generationPrompt);
    }

    /** Whether the model may call tools: some are declared, at the front or by a message, and it was not told not to. */
    public boolean offersTools() {
        return toolChoice != ToolChoice.NONE
                && (!tools.isEmpty()
                        || messages.stream()
                                .anyMatch(m -> m instanceof Message.System system
                                        && !system.tools().isEmpty()));
    }

    /**
     * Refuses pictures by name, for an engine that sees none.
     *
     * @throws ChatException naming the first image part
     */
    public void requireTextOnly() {
        for (int m = 0; m < messages.size(); m++) {
            List<ContentPart> content = messages.get(m).content();
            for (int p = 0; p < content.size(); p++) {
                if (content.get(p) instanceof ContentPart.Image) {
                    throw new ChatException(
                            "messages[" + m + "].content[" + p + "]", "images are not supported; send text parts only");
                }
            }
        }
    }
}
