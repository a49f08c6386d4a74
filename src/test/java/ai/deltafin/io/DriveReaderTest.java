package ai.deltafin.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Both native readers, against the bytes of a file. */
class DriveReaderTest {
    private static final int BLOCK = 4096;

    @TempDir
    Path directory;

    private byte[] content = {};
    private Path path = Path.of("");

    @BeforeEach
    void writeFile() throws IOException {
        content = new byte[300 * BLOCK + 777];
        new Random(5).nextBytes(content);
        path = Files.write(directory.resolve("shard"), content);
    }

    private List<DriveReader> readers(int capacity) {
        List<DriveReader> readers = new ArrayList<>();
        readers.add(NativeReader.pread(capacity, 4));
        try {
            readers.add(NativeReader.ioUring(capacity));
        } catch (StorageException e) {
            System.err.println("skipped: " + e.getMessage());
        }
        return readers;
    }

    @TestFactory
    List<DynamicTest> await_returnsEveryReadOnceWithItsBytes() {
        List<DynamicTest> tests = new ArrayList<>();
        for (DriveReader reader : readers(16)) {
            tests.add(DynamicTest.dynamicTest(reader.name(), () -> readsAll(reader, Access.probe(path))));
        }
        for (DriveReader reader : readers(16)) {
            tests.add(DynamicTest.dynamicTest(
                    reader.name() + " buffered", () -> readsAll(reader, Access.buffered("test"))));
        }
        return tests;
    }

    private void readsAll(DriveReader reader, Access access) {
        try (AlignedMemory memory = AlignedMemory.map(content.length + 2 * BLOCK);
                DriveFile file = DriveFile.open(path, 0, access)) {
            int align = access.alignment();
            int pieces = (content.length + align - 1) / align;
            boolean[] seen = new boolean[pieces];
            int next = 0;
            int done = 0;
            while (done < pieces) {
                while (next < pieces && reader.inFlight() < reader.capacity()) {
                    reader.read(file, memory.address() + (long) next * align, align, (long) next * align, next);
                    next++;
                }
                int n = reader.await(1, 10_000_000_000L);
                assertThat(n).isPositive();
                for (int i = 0; i < n; i++) {
                    int piece = (int) reader.tag(i);
                    assertThat(seen[piece]).isFalse();
                    seen[piece] = true;
                    long wanted = Math.min(align, content.length - (long) piece * align);
                    assertThat(reader.result(i)).isEqualTo(wanted);
                }
                done += n;
            }
            assertThat(reader.inFlight()).isZero();
            assertThat(memory.segment().asSlice(0, content.length).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(content);
        } finally {
            assertThat(reader.close(1_000_000_000L)).isZero();
        }
    }

    @TestFactory
    List<DynamicTest> await_withPinnedMemory_givesTheSameBytes() {
        List<DynamicTest> tests = new ArrayList<>();
        for (DriveReader reader : readers(4)) {
            tests.add(DynamicTest.dynamicTest(reader.name(), () -> {
                try (AlignedMemory memory = AlignedMemory.map(1 << 20);
                        DriveFile file = DriveFile.open(path, 0, Access.probe(path))) {
                    reader.pin(memory);
                    reader.read(file, memory.address(), 8 * BLOCK, 3 * BLOCK, 7);
                    assertThat(reader.await(1, -1)).isEqualTo(1);
                    reader.unpin();
                    assertThat(memory.segment().asSlice(0, 8 * BLOCK).toArray(ValueLayout.JAVA_BYTE))
                            .isEqualTo(java.util.Arrays.copyOfRange(content, 3 * BLOCK, 11 * BLOCK));
                } finally {
                    reader.close(1_000_000_000L);
                }
            }));
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> await_onAnErrorReturnsItWithTheTag() {
        List<DynamicTest> tests = new ArrayList<>();
        for (DriveReader reader : readers(4)) {
            tests.add(DynamicTest.dynamicTest(reader.name(), () -> {
                try (AlignedMemory memory = AlignedMemory.map(BLOCK)) {
                    DriveFile file = DriveFile.open(path, 0, Access.buffered("test"));
                    file.close();
                    reader.read(file, memory.address(), BLOCK, 0, 42);
                    assertThat(reader.await(1, 1_000_000_000L)).isEqualTo(1);
                    assertThat(reader.tag(0)).isEqualTo(42);
                    assertThat(reader.result(0)).isEqualTo(-9); // EBADF
                    assertThat(reader.inFlight()).isZero();
                } finally {
                    reader.close(1_000_000_000L);
                }
            }));
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> await_withNothingInFlight_returnsAtOnce() {
        List<DynamicTest> tests = new ArrayList<>();
        for (DriveReader reader : readers(4)) {
            tests.add(DynamicTest.dynamicTest(reader.name(), () -> {
                assertThat(reader.await(1, -1)).isZero();
                reader.close(0);
            }));
        }
        return tests;
    }

    @Test
    void read_beyondTheCapacity_isRefused() {
        DriveReader reader = NativeReader.pread(1, 1);
        try (AlignedMemory memory = AlignedMemory.map(2 * BLOCK);
                DriveFile file = DriveFile.open(path, 0, Access.buffered("test"))) {
            reader.read(file, memory.address(), BLOCK, 0, 0);
            assertThatThrownBy(() -> reader.read(file, memory.address() + BLOCK, BLOCK, BLOCK, 1))
                    .isInstanceOf(IllegalStateException.class);
            reader.await(1, -1);
        } finally {
            reader.close(1_000_000_000L);
        }
    }

    @Test
    void probe_onTmpfs_fallsBackToBufferedReads() throws IOException {
        Path shm = Path.of("/dev/shm");
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.isWritable(shm), "no tmpfs here");
        Path file = Files.write(Files.createTempFile(shm, "deltafin", ".bin"), content);
        try {
            Access access = Access.probe(file);
            ReaderKind.Choice choice = ReaderKind.AUTO.choose(List.of(access));
            if (!access.direct()) {
                assertThat(choice.ioUring()).isFalse();
                assertThat(choice.reason()).isNotBlank();
            }
            readsAll(choice.open(8), access);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void unchanged_seesATruncatedFile() throws IOException {
        try (DriveFile file = DriveFile.open(path, 0, Access.buffered("test"))) {
            assertThat(file.unchanged()).isTrue();
            Files.write(path, new byte[10]);
            assertThat(file.unchanged()).isFalse();
            assertThatThrownBy(file::reopen)
                    .isInstanceOf(StorageException.class)
                    .hasMessageContaining("altered");
        }
    }

    @Test
    void find_givesTheFirstPosition() {
        try (AlignedMemory memory = AlignedMemory.map(100)) {
            assertThat(AlignedMemory.find(memory.address(), 100, 255)).isEqualTo(-1);
            memory.segment().set(ValueLayout.JAVA_BYTE, 33, (byte) 255);
            assertThat(AlignedMemory.find(memory.address(), 100, 255)).isEqualTo(33);
        }
    }

    @Test
    void prefault_makesPagesPresent() {
        try (AlignedMemory memory = AlignedMemory.map(8 << 20)) {
            memory.prefault(memory.bytes());
            memory.discard(0, memory.bytes());
            assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 4096)).isZero();
            assertThat(memory.hugeBytes()).isGreaterThanOrEqualTo(-1);
        }
    }
}
