package ai.deltafin.chat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON as Python's {@code json} module reads and writes it, since the released encoder is Python and its output is what
 * the model was trained on.
 */
final class PythonJson {

    /** Deeper JSON overflows Python's own stack; it bounds ours. */
    static final int MAX_DEPTH = 900;

    /** Reads as {@code json.loads}: NaN and Infinity are numbers, integers have any length, the last duplicate wins. */
    static final JsonMapper READER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxNumberLength(4300)
                            .maxNameLength(1 << 20)
                            .build())
                    .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final Comparator<String> BY_CODE_POINT = PythonJson::compareCodePoints;

    private final boolean compactSorted;
    private final StringBuilder out = new StringBuilder();

    private PythonJson(boolean compactSorted) {
        this.compactSorted = compactSorted;
    }

    /** {@code dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))}: tools and schemas. */
    static String compactSorted(JsonNode value) {
        PythonJson json = new PythonJson(true);
        json.value(value);
        return json.out.toString();
    }

    /** {@code dumps(value, ensure_ascii=False)}: arguments of calls, in their own order and with spaces. */
    static String spaced(JsonNode value) {
        PythonJson json = new PythonJson(false);
        json.value(value);
        return json.out.toString();
    }

    private void value(JsonNode value) {
        switch (value.getNodeType()) {
            case OBJECT -> object(value);
            case ARRAY -> array(value);
            case STRING -> {
                out.append('"');
                escape(value.stringValue(), out);
                out.append('"');
            }
            case NUMBER -> out.append(number(value));
            case BOOLEAN -> out.append(value.booleanValue());
            default -> out.append("null");
        }
    }

    private void object(JsonNode object) {
        List<Map.Entry<String, JsonNode>> entries = List.copyOf(object.properties());
        if (compactSorted) {
            entries = entries.stream()
                    .sorted(Map.Entry.comparingByKey(BY_CODE_POINT))
                    .toList();
        }
        out.append('{');
        for (int i = 0; i < entries.size(); i++) {
            out.append(i == 0 ? "" : comma()).append('"');
            escape(entries.get(i).getKey(), out);
            out.append(compactSorted ? "\":" : "\": ");
            value(entries.get(i).getValue());
        }
        out.append('}');
    }

    private void array(JsonNode array) {
        out.append('[');
        for (int i = 0; i < array.size(); i++) {
            out.append(i == 0 ? "" : comma());
            value(array.get(i));
        }
        out.append(']');
    }

    private String comma() {
        return compactSorted ? "," : ", ";
    }

    /** Appends the inside of a JSON string: quotes, backslashes and controls escaped, all else as it is. */
    static void escape(String text, StringBuilder out) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < 0x20) {
                        out.append("\\u00")
                                .append(Character.forDigit(c >> 4, 16))
                                .append(Character.forDigit(c & 15, 16));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
    }

    /** A number as Python prints it: integers digit by digit, floats by their shortest form. */
    static String number(JsonNode number) {
        return number.isIntegralNumber() ? number.bigIntegerValue().toString() : number(number.doubleValue());
    }

    /** Python's {@code repr} of a float, in JSON's spelling of the infinite ones. */
    static String number(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return Double.toString(value);
        }
        String sign = Double.doubleToRawLongBits(value) < 0 ? "-" : "";
        if (value == 0) {
            return sign + "0.0";
        }
        BigDecimal decimal = shortest(Math.abs(value));
        String digits = decimal.unscaledValue().toString();
        int exponent = digits.length() - decimal.scale() - 1;
        if (exponent < -4 || exponent >= 16) {
            String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
            String power = Math.abs(exponent) < 10 ? "0" + Math.abs(exponent) : "" + Math.abs(exponent);
            return sign + digits.charAt(0) + fraction + (exponent < 0 ? "e-" : "e+") + power;
        }
        String plain = decimal.toPlainString();
        return sign + (plain.contains(".") ? plain : plain + ".0");
    }

    /** The shortest decimal that reads back as the value: Double.toString's since JDK 19, which has two digits at least. */
    private static BigDecimal shortest(double value) {
        BigDecimal decimal = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        BigDecimal oneDigit = decimal.round(new MathContext(1));
        return oneDigit.doubleValue() == value ? oneDigit : decimal;
    }

    private static int compareCodePoints(String a, String b) {
        int length = Math.min(a.length(), b.length());
        for (int i = 0; i < length; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                // Surrogates stand for code points above every other unit.
                return Character.isSurrogate(x) == Character.isSurrogate(y)
                        ? Character.compare(x, y)
                        : Character.isSurrogate(x) ? 1 : -1;
            }
        }
        return Integer.compare(a.length(), b.length());
    }
}
