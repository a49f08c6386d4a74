package ai.deltafin.expert;

import ai.deltafin.io.DriveFile;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

/** One place that can serve pieces of a layer's expert images. Positions are bytes of the image. */
sealed interface Copy {
    Drive drive();

    /** Whether it holds [from, to) of that expert's image in one run of one file. */
    boolean holds(int expert, int from, int to);

    DriveFile file(int expert, int from);

    long offset(int expert, int from);

    /** Every file it reads. */
    Stream<DriveFile> files();

    /** The released shards of a layer, or a whole copy of them. */
    final class Shards implements Copy {
        private final Drive drive;
        private final ExpertImages images;
        private final int layer;
        private final DriveFile[] files; // by file number; null where the layer has no part

        Shards(Drive drive, ExpertImages images, int layer, DriveFile[] files) {
            this.drive = drive;
            this.images = images;
            this.layer = layer;
            this.files = files;
        }

        @Override
        public Drive drive() {
            return drive;
        }

        @Override
        public boolean holds(int expert, int from, int to) {
            return true; // pieces are cut at windows
        }

        @Override
        public DriveFile file(int expert, int from) {
            int key = images.geometry().key(layer, expert);
            return files[images.windowFile(images.window(key, from))];
        }

        @Override
        public long offset(int expert, int from) {
            int key = images.geometry().key(layer, expert);
            return images.fileOffset(images.window(key, from), from);
        }

        @Override
        public Stream<DriveFile> files() {
            return Arrays.stream(files).filter(Objects::nonNull);
        }
    }

    /** A pack file: the bytes [from, to) of some experts' images, one after the other. */
    final class Pack implements Copy {
        private final Drive drive;
        private final DriveFile file;
        private final int[] position; // place of an expert in the file, or -1; may end early
        private final int from;
        private final int to;

        Pack(Drive drive, DriveFile file, int[] position, int from, int to) {
            this.drive = drive;
            this.file = file;
            this.position = position;
            this.from = from;
            this.to = to;
        }

        @Override
        public Drive drive() {
            return drive;
        }

        int from() {
            return from;
        }

        int to() {
            return to;
        }

        @Override
        public boolean holds(int expert, int pieceFrom, int pieceTo) {
            return expert < position.length && position[expert] >= 0 && from <= pieceFrom && pieceTo <= to;
        }

        @Override
        public DriveFile file(int expert, int pieceFrom) {
            return file;
        }

        @Override
        public long offset(int expert, int pieceFrom) {
            return (long) position[expert] * (to - from) + (pieceFrom - from);
        }

        @Override
        public Stream<DriveFile> files() {
            return Stream.of(file);
        }
    }
}
