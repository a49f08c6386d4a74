package ai.deltafin.server;

import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** How an API writes an error down. */
enum ErrorShape {
    /** {@code {"error":{"message","type","param","code"}}}. */
    OPENAI {
        @Override
        ObjectNode body(ApiException e) {
            ObjectNode body = JsonNodeFactory.instance.objectNode();
            ObjectNode error = body.putObject("error");
            error.put("message", e.text());
            error.put("type", type(e.status()));
            error.put("param", e.param());
            error.put("code", e.code());
            return body;
        }

        private static String type(int status) {
            return switch (status) {
                case 401 -> "authentication_error";
                case 403 -> "permission_error";
                case 404 -> "not_found_error";
                case 429 -> "rate_limit_error";
                default -> status < 500 ? "invalid_request_error" : "server_error";
            };
        }
    },
    /** {@code {"type":"error","error":{"type","message"}}}; the field's path is added as {@code param}. */
    ANTHROPIC {
        @Override
        ObjectNode body(ApiException e) {
            ObjectNode body = JsonNodeFactory.instance.objectNode();
            body.put("type", "error");
            ObjectNode error = body.putObject("error");
            error.put("type", type(e.status()));
            error.put("message", e.param() == null ? e.text() : e.param() + ": " + e.text());
            if (e.param() != null) {
                error.put("param", e.param());
            }
            return body;
        }

        private static String type(int status) {
            return switch (status) {
                case 401 -> "authentication_error";
                case 403 -> "permission_error";
                case 404 -> "not_found_error";
                case 413 -> "request_too_large";
                case 429 -> "rate_limit_error";
                case 503 -> "overloaded_error";
                default -> status < 500 ? "invalid_request_error" : "api_error";
            };
        }
    };

    /** The error object. */
    abstract ObjectNode body(ApiException e);
}
