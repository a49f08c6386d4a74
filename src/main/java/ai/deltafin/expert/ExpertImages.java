package ai.deltafin.expert;

import ai.deltafin.model.ExpertTensor;
import java.util.Arrays;

/**
 * The bytes of an expert as they land in a slot, its <em>image</em>: the aligned windows of its file that enclose its
 * parts, one after the other. Parts that lie back to back share a window, so a released expert has one window and its
 * image begins with a few bytes of its neighbour (expert-streaming.md 3.1). Packs store images, so that pieces from a
 * shard and from a pack meet in one slot without a copy.
 */
final class ExpertImages {
    private static final int PARTS = ExpertTensor.values().length;

    private final ExpertGeometry geometry;
    private final int alignment;
    private final int[] firstWindow; // [keys + 1]
    private final int[] windowFile;
    private final long[] windowOffset; // in its file
    private final int[] windowStart; // in the image
    private final int[] imageBytes; // [keys]
    private final long[] storedBytes; // [keys]: the parts alone
    private final int[] partOffset; // [keys][PARTS] in the image; -1 = no such part
    private final int[] partBytes; // [keys][PARTS]
    private final int stride;

    ExpertImages(ExpertRanges ranges, int alignment) {
        this.geometry = ranges.geometry();
        this.alignment = alignment;
        int keys = geometry.keys();
        firstWindow = new int[keys + 1];
        imageBytes = new int[keys];
        storedBytes = new long[keys];
        partOffset = new int[keys * PARTS];
        partBytes = new int[keys * PARTS];
        var windows = new Windows(keys);
        for (int key = 0; key < keys; key++) {
            firstWindow[key] = windows.count;
            lay(ranges, key, windows);
        }
        firstWindow[keys] = windows.count;
        windowFile = Arrays.copyOf(windows.file, windows.count);
        windowOffset = Arrays.copyOf(windows.offset, windows.count);
        windowStart = Arrays.copyOf(windows.start, windows.count);
        stride = Arrays.stream(imageBytes).max().orElse(0);
    }

    /** Growing columns of all windows. */
    private static final class Windows {
        int count;
        int[] file;
        long[] offset;
        int[] start;

        Windows(int expected) {
            file = new int[expected];
            offset = new long[expected];
            start = new int[expected];
        }

        void add(int inFile, long atOffset, int inImage) {
            if (count == file.length) {
                file = Arrays.copyOf(file, count * 2);
                offset = Arrays.copyOf(offset, count * 2);
                start = Arrays.copyOf(start, count * 2);
            }
            file[count] = inFile;
            offset[count] = atOffset;
            start[count++] = inImage;
        }
    }

    private void lay(ExpertRanges ranges, int key, Windows windows) {
        int layer = geometry.layer(key);
        int expert = geometry.expert(key);
        ExpertTensor[] order = Arrays.stream(ExpertTensor.values())
                .filter(part -> ranges.bytes(layer, expert, part) > 0)
                .sorted(java.util.Comparator.comparingInt((ExpertTensor part) -> ranges.file(layer, expert, part))
                        .thenComparingLong(part -> ranges.offset(layer, expert, part)))
                .toArray(ExpertTensor[]::new);
        Arrays.fill(partOffset, key * PARTS, (key + 1) * PARTS, -1);
        long image = 0; // bytes laid so far, aligned
        long end = -1; // file offset behind the last part of the open window
        long start = 0; // image position minus file offset of the open window
        int file = -1;
        for (ExpertTensor part : order) {
            long offset = ranges.offset(layer, expert, part);
            long bytes = ranges.bytes(layer, expert, part);
            if (ranges.file(layer, expert, part) != file || offset != end) {
                file = ranges.file(layer, expert, part);
                long aligned = offset / alignment * alignment;
                windows.add(file, aligned, Math.toIntExact(image));
                start = image - aligned;
            }
            partOffset[key * PARTS + number(part)] = Math.toIntExact(start + offset);
            partBytes[key * PARTS + number(part)] = Math.toIntExact(bytes);
            storedBytes[key] += bytes;
            end = offset + bytes;
            image = (start + end + alignment - 1) / alignment * alignment;
        }
        imageBytes[key] = Math.toIntExact(image);
    }

    private static int number(ExpertTensor part) {
        return switch (part) {
            case W1 -> 0;
            case W1_SCALES -> 1;
            case W2 -> 2;
            case W2_SCALES -> 3;
            case W3 -> 4;
            case W3_SCALES -> 5;
        };
    }

    ExpertGeometry geometry() {
        return geometry;
    }

    int alignment() {
        return alignment;
    }

    /** Bytes of the largest image: the distance of two slots. */
    int stride() {
        return stride;
    }

    int imageBytes(int key) {
        return imageBytes[key];
    }

    /** Bytes of an expert's parts, without the edges that alignment adds. */
    long storedBytes(int key) {
        return storedBytes[key];
    }

    int partOffset(int key, ExpertTensor part) {
        return partOffset[key * PARTS + number(part)];
    }

    int partBytes(int key, ExpertTensor part) {
        return partBytes[key * PARTS + number(part)];
    }

    /** Which window holds the byte at {@code at} of an image. */
    int window(int key, int at) {
        int w = firstWindow[key + 1] - 1;
        while (windowStart[w] > at) {
            w--;
        }
        return w;
    }

    int windowFile(int window) {
        return windowFile[window];
    }

    /** File offset of the image byte {@code at}, which lies in that window. */
    long fileOffset(int window, int at) {
        return windowOffset[window] + (at - windowStart[window]);
    }

    int windowCount(int key) {
        return firstWindow[key + 1] - firstWindow[key];
    }

    /** Image position where the i-th window of an expert begins. */
    int windowStart(int key, int i) {
        return windowStart[firstWindow[key] + i];
    }
}
