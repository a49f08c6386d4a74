package ai.deltafin.chat;

import java.util.Locale;

/** The sentences the released encoder writes into messages of its own. The model knows them letter by letter. */
final class FixedTexts {

    static final String TOOLS = "# Tools\nHere are the available tools, described in JSONSchema.\n\n";

    static final String MORE_TOOLS = """
            ## New Tools Available
            The system dynamically extends the toolset via lazy-loading.
            You have access to all existing and extended tools.
            Here are the specs for the extended tools.

            """;

    static final String TOOL_CHOICE_REQUIRED =
            "The system is invoked with `tool_choice=required`.\nYou MUST call tools in the next message.";

    static final String TOOL_CHOICE_NONE =
            "The system is invoked with `tool_choice=none`.\nYou MUST NOT call any tools in the next message.";

    static final String SCHEMA = "\nThe JSON data must match the following schema:\n";

    private FixedTexts() {}

    static String effort(Thinking effort) {
        return "`thinking_effort` guides on how much to think in your thinking channel (not including the response"
                + " channel), supported values include `low`, `medium`, `high`, and `max`.\n"
                + "Now the system is invoked with `thinking_effort="
                + effort.name().toLowerCase(Locale.ROOT) + "`.";
    }

    static String responseFormat(String type) {
        return "The system is invoked with `response_format=" + type + "`.\n"
                + "Your response must be raw JSON data without markdown code blocks (```json) or any additional"
                + " formatting.";
    }

    static String jsonBlock(String json) {
        return "```json\n" + json + "\n```";
    }
}
