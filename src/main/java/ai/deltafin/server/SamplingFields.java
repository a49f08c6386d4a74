package ai.deltafin.server;

import ai.deltafin.pipeline.Sampling;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The fields that say how tokens are chosen and where an answer stops; the APIs share them. */
final class SamplingFields {

    /** Stop strings of a request. */
    static final int MAX_STOPS = 16;

    private static final int MAX_STOP_LENGTH = 1024;
    private static final int MAX_BIASES = 1024;

    /** Seeds that are drawn survive a client that reads JSON numbers as doubles. */
    private static final long DRAWN = 1L << 53;

    private static final List<String> SPOKEN = List.of("top_p", "top_k", "min_p", "seed");

    private SamplingFields() {}

    /**
     * The parameters.
     *
     * @param mostTemperature the API's largest temperature
     * @param vocabulary ids below this may be biased
     */
    static Sampling read(Fields fields, double mostTemperature, int vocabulary) {
        boolean spoken = SPOKEN.stream().anyMatch(fields::has);
        double temperature = fields.number("temperature", 0, mostTemperature, spoken ? 1 : 0);
        double topP = fields.number("top_p", 0, 1, 1);
        if (topP == 0) {
            throw ApiException.invalid(fields.at("top_p"), "must be above 0");
        }
        int topK = fields.integer("top_k", -1, Integer.MAX_VALUE).orElse(0);
        Long seed = fields.bits("seed");
        return new Sampling(
                temperature > 0 && temperature < 1e-6 ? 0 : temperature,
                topP,
                Math.max(0, topK),
                fields.number("min_p", 0, 1, 0),
                fields.number("frequency_penalty", -2, 2, 0),
                fields.number("presence_penalty", -2, 2, 0),
                biases(fields, vocabulary),
                seed != null
                        ? seed
                        : temperature == 0 ? 0 : ThreadLocalRandom.current().nextLong(DRAWN),
                0);
    }

    private static Map<Integer, Double> biases(Fields fields, int vocabulary) {
        if (!fields.has("logit_bias")) {
            return Map.of();
        }
        Fields given = fields.inner("logit_bias");
        Map<Integer, Double> biases = new HashMap<>();
        for (String id : fields.node("logit_bias").propertyNames()) {
            if (!id.matches("[0-9]{1,9}") || Integer.parseInt(id) >= vocabulary) {
                throw ApiException.invalid(given.at(id), "not a token id: ids are 0 to " + (vocabulary - 1));
            }
            biases.put(Integer.parseInt(id), given.number(id, -100, 100, 0));
        }
        if (biases.size() > MAX_BIASES) {
            throw ApiException.invalid(fields.at("logit_bias"), "at most " + MAX_BIASES + " ids");
        }
        return biases;
    }

    /** Stop strings. */
    static List<String> stops(Fields fields, String name) {
        List<String> stops = fields.texts(name);
        if (stops.size() > MAX_STOPS) {
            throw ApiException.invalid(fields.at(name), "at most " + MAX_STOPS + " stop strings, not " + stops.size());
        }
        for (String stop : stops) {
            if (stop.isEmpty() || stop.length() > MAX_STOP_LENGTH) {
                throw ApiException.invalid(
                        fields.at(name), "a stop string has 1 to " + MAX_STOP_LENGTH + " characters");
            }
        }
        return stops;
    }

    /** Whether a value says anything: neither absent nor null, empty text, array or object. */
    static boolean says(@Nullable JsonNode value) {
        return value != null
                && !value.isNull()
                && !value.isMissingNode()
                && !(value.isContainer() && value.isEmpty())
                && !(value.isString() && value.stringValue().isEmpty());
    }
}
