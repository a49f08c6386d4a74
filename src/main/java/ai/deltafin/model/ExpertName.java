package ai.deltafin.model;

import org.jspecify.annotations.Nullable;

/**
 * What the name of a routed expert's tensor says: {@code model.layers.L.block_sparse_moe.experts.E.wN.} and then
 * {@code weight}, {@code weight_packed} or {@code weight_scale}. Parsed by hand, since there are half a million.
 *
 * @param piece which piece; W1, W2, W3 for plain weights too
 * @param plain whether the tensor is an unquantised weight
 */
record ExpertName(int layer, int expert, ExpertTensor piece, boolean plain) {
    private static final String LAYERS = "model.layers.";
    private static final String EXPERTS = ".block_sparse_moe.experts.";
    private static final int MAX_DIGITS = 7;

    /** The parts of a name without prefix; null if it is no routed expert's. */
    static @Nullable ExpertName parse(String name) {
        if (!name.startsWith(LAYERS)) {
            return null;
        }
        int layerEnd = digits(name, LAYERS.length());
        if (layerEnd < 0 || !name.startsWith(EXPERTS, layerEnd)) {
            return null;
        }
        int expertBegin = layerEnd + EXPERTS.length();
        int expertEnd = digits(name, expertBegin);
        if (expertEnd < 0 || !name.startsWith(".w", expertEnd) || name.length() < expertEnd + 4) {
            return null;
        }
        int matrix = name.charAt(expertEnd + 2) - '1';
        int kind = kind(name.substring(expertEnd + 3));
        if (matrix < 0 || matrix > 2 || kind < 0) {
            return null;
        }
        return new ExpertName(
                Integer.parseInt(name, LAYERS.length(), layerEnd, 10),
                Integer.parseInt(name, expertBegin, expertEnd, 10),
                ExpertTensor.at(2 * matrix + (kind == 1 ? 1 : 0)),
                kind == 2);
    }

    private static int kind(String suffix) {
        return switch (suffix) {
            case ".weight_packed" -> 0;
            case ".weight_scale" -> 1;
            case ".weight" -> 2;
            default -> -1;
        };
    }

    /** End of a decimal number without leading zeros; negative if there is none, or one too long. */
    private static int digits(String name, int begin) {
        int end = begin;
        while (end < name.length() && name.charAt(end) >= '0' && name.charAt(end) <= '9') {
            end++;
        }
        int length = end - begin;
        boolean canonical = length == 1 || (length > 1 && length <= MAX_DIGITS && name.charAt(begin) != '0');
        return canonical ? end : -1;
    }
}
