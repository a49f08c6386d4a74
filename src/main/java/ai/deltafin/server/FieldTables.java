package ai.deltafin.server;

import java.util.List;

/** The fields of every request, as docs/server.md lists them. */
final class FieldTables {

    private static final FieldTable SAMPLING = new FieldTable("")
            .honoured("temperature", "0 to 2; 0 is greedy; absent it is 0, or 1 where another sampling field is given")
            .honoured("top_p", "above 0, to 1")
            .honoured("top_k", "0 or -1 keeps all")
            .honoured("min_p", "0 to 1")
            .honoured("seed", "64-bit integer: same seed, same text, on every machine")
            .honoured("presence_penalty", "-2 to 2; counts generated tokens")
            .honoured("frequency_penalty", "-2 to 2; counts generated tokens")
            .honoured("logit_bias", "object of token id to -100..100, at most 1024");

    private static final FieldTable HARMLESS = new FieldTable("")
            .accepted(
                    "cannot change the answer",
                    "store",
                    "metadata",
                    "user",
                    "service_tier",
                    "prompt_cache_key",
                    "prompt_cache_retention",
                    "safety_identifier");

    static final FieldTable CHAT = new FieldTable("POST /v1/chat/completions")
            .honoured("model", "any name; the loaded model answers under its own")
            .honoured(
                    "messages",
                    "roles system, developer, user, assistant, tool; text parts; reasoning back as `reasoning_content`,"
                            + " `reasoning` or a leading think tag; images are refused by name")
            .honoured("stream", "server-sent events")
            .honoured("stream_options", "`include_usage` adds a last chunk with usage and no choices")
            .honoured("max_tokens", "bound on new tokens, reasoning included")
            .honoured("max_completion_tokens", "the same; wins over `max_tokens`")
            .honoured("stop", "a string or up to 16; act on content, never shown")
            .with(SAMPLING)
            .honoured("logprobs", "one entry for every generated token, reasoning and markup included")
            .honoured("top_logprobs", "0 to 20, with `logprobs`")
            .honoured("n", "1 to 4; choice i draws from noise stream i")
            .honoured("tools", "type function; with `strict` the arguments' schema is enforced or refused")
            .honoured("tool_choice", "none, auto, required, or one named function: enforced while decoding")
            .honoured("parallel_tool_calls", "false allows one call at most: enforced while decoding")
            .honoured("response_format", "text, json_object, json_schema: enforced while decoding")
            .honoured(
                    "reasoning_effort",
                    "none is off; minimal, low are low; medium, high are high; xhigh, max are max; absent is max")
            .honoured("thinking", "`type` enabled or disabled, `effort`, `keep` all")
            .honoured("chat_template_kwargs", "`thinking`, `enable_thinking`, `thinking_effort`; they win")
            .with(HARMLESS)
            .refused("modalities", "only text comes out", "[\"text\"]")
            .refused("audio", "no audio")
            .refused("prediction", "no predicted outputs")
            .refused("web_search_options", "no web search")
            .refused("verbosity", "the model has no such setting", "\"medium\"")
            .refused("functions", "deprecated; use `tools`")
            .refused("function_call", "deprecated; use `tool_choice`");

    static final FieldTable STREAM_OPTIONS = new FieldTable("stream_options")
            .honoured("include_usage", "a last chunk with usage and no choices")
            .accepted("no padding is ever sent", "include_obfuscation");

    static final FieldTable THINKING = new FieldTable("thinking")
            .honoured("type", "enabled or disabled")
            .honoured("effort", "as `reasoning_effort`; wins over it")
            .honoured("keep", "all: earlier reasoning always stays");

    static final FieldTable TEMPLATE = new FieldTable("chat_template_kwargs")
            .honoured("thinking", "true or false; wins over everything else")
            .honoured("enable_thinking", "the same")
            .honoured("thinking_effort", "as `reasoning_effort`");

    static final FieldTable COMPLETIONS = new FieldTable("POST /v1/completions")
            .honoured("model", "any name")
            .honoured("prompt", "a string, or token ids; one prompt a request")
            .honoured("stream", "server-sent events")
            .honoured("stream_options", "`include_usage`")
            .honoured("max_tokens", "bound on new tokens; absent is 16")
            .honoured("stop", "a string or up to 16")
            .with(SAMPLING)
            .honoured("logprobs", "0 to 20 alternatives")
            .honoured("n", "1 to 4")
            .with(HARMLESS)
            .refused("best_of", "choices are not ranked; use `n`", "1")
            .refused("echo", "the prompt is not sent back", "false")
            .refused("suffix", "the model does not fill in", "\"\"");

    static final FieldTable RESPONSES = new FieldTable("POST /v1/responses")
            .honoured("model", "any name")
            .honoured(
                    "input",
                    "a string, or items of type message, reasoning, function_call, function_call_output; images and"
                            + " files are refused by name")
            .honoured("instructions", "a system message in front")
            .honoured("stream", "server-sent events")
            .honoured("max_output_tokens", "bound on new tokens, reasoning included")
            .honoured("temperature", "0 to 2")
            .honoured("top_p", "above 0, to 1")
            .honoured("top_logprobs", "0 to 20, with `include` message.output_text.logprobs")
            .honoured("tools", "type function")
            .honoured("tool_choice", "none, auto, required, or `{type: function, name}`")
            .honoured("parallel_tool_calls", "false allows one call at most")
            .honoured("reasoning", "`effort` as reasoning_effort; `summary` is accepted: reasoning is given whole")
            .honoured("text", "`format` text, json_object, json_schema")
            .honoured("include", "message.output_text.logprobs; reasoning.encrypted_content is accepted")
            .with(HARMLESS)
            .accepted("no padding is ever sent", "stream_options")
            .accepted("client's own data", "client_metadata")
            .refused("previous_response_id", "responses are not stored; send the items again")
            .refused("conversation", "conversations are not stored; send the items again")
            .refused("background", "answers are not kept", "false")
            .refused("prompt", "prompt templates are not stored")
            .refused("truncation", "nothing is ever cut from the input", "\"disabled\"")
            .refused("max_tool_calls", "built-in tools do not exist here")
            .refused("context_management", "nothing is ever cut from the input", "[]");

    static final FieldTable REASONING = new FieldTable("reasoning")
            .honoured("effort", "as `reasoning_effort`")
            .accepted("reasoning is given whole, not in summary", "summary", "generate_summary");

    static final FieldTable TEXT = new FieldTable("text")
            .honoured("format", "text, json_object, json_schema")
            .refused("verbosity", "the model has no such setting", "\"medium\"");

    static final FieldTable MESSAGES = new FieldTable("POST /v1/messages")
            .honoured("model", "any name")
            .honoured(
                    "messages",
                    "blocks text, thinking, tool_use, tool_result; images and documents are refused by name")
            .honoured("system", "a string or text blocks")
            .honoured("max_tokens", "needed; bound on new tokens, thinking included")
            .honoured("stream", "server-sent events")
            .honoured("stop_sequences", "up to 16; act on text, never shown")
            .honoured("temperature", "0 to 1; as above")
            .honoured("top_p", "above 0, to 1")
            .honoured("top_k", "0 keeps all")
            .honoured("tools", "client tools; a schema is enforced with `strict`")
            .honoured("tool_choice", "auto, any, tool, none; `disable_parallel_tool_use`")
            .honoured(
                    "thinking",
                    "disabled, enabled or adaptive; absent is disabled; `budget_tokens` chooses the effort: below 4096"
                            + " low, below 16384 high, else max")
            .honoured("output_config", "`effort`; `format` json_schema")
            .accepted("cannot change the answer", "metadata", "service_tier", "inference_geo", "cache_control")
            .refused("container", "no code runs here")
            .refused("mcp_servers", "tool servers are the client's", "[]")
            .refused("context_management", "nothing is ever cut from the input", "{}", "{\"edits\":[]}");

    static final FieldTable COUNT_TOKENS = new FieldTable("POST /v1/messages/count_tokens")
            .honoured("model", "any name")
            .honoured("messages", "as in /v1/messages")
            .honoured("system", "as in /v1/messages")
            .honoured("tools", "as in /v1/messages")
            .honoured("tool_choice", "as in /v1/messages")
            .honoured("thinking", "as in /v1/messages")
            .honoured("output_config", "as in /v1/messages")
            .accepted("cannot change the count", "metadata", "service_tier", "cache_control");

    static final FieldTable TOKENIZE = new FieldTable("POST /tokenize")
            .honoured("model", "any name")
            .honoured("text", "text to encode; or")
            .honoured("prompt", "the same; or")
            .honoured("messages", "a chat, rendered as a prompt")
            .honoured("tools", "tools of the chat")
            .honoured("special", "true lets spellings of control tokens count; for `text`");

    static final FieldTable DETOKENIZE =
            new FieldTable("POST /detokenize").honoured("model", "any name").honoured("tokens", "token ids");

    private FieldTables() {}

    /** Every table, in the order of the documentation. */
    static List<FieldTable> all() {
        return List.of(
                CHAT,
                STREAM_OPTIONS,
                THINKING,
                TEMPLATE,
                COMPLETIONS,
                RESPONSES,
                REASONING,
                TEXT,
                MESSAGES,
                COUNT_TOKENS,
                TOKENIZE,
                DETOKENIZE);
    }
}
