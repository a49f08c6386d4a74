package ai.deltafin.expert;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Which directories lie on one physical drive: two queues for one drive would only get in each other's way. */
final class Devices {
    private Devices() {}

    /** A number a directory, the same for those on one drive, counted from 0 in the order of their first one. */
    static List<Integer> group(List<Path> roots) {
        List<String> names = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        for (Path root : roots) {
            String name = name(root);
            if (!names.contains(name)) {
                names.add(name);
            }
            numbers.add(names.indexOf(name));
        }
        return numbers;
    }

    /** The whole disk under a directory; its filesystem where the system does not tell. */
    static String name(Path root) {
        try {
            String store = Files.getFileStore(root).name();
            Path device = Path.of(store);
            if (!device.startsWith("/dev")) {
                return store + " " + Files.getFileStore(root).type() + " " + Files.getAttribute(root, "unix:dev");
            }
            Path block = Path.of("/sys/class/block").resolve(device.toRealPath().getFileName());
            return Files.exists(block) ? leaf(block.toRealPath()) : store;
        } catch (IOException | UnsupportedOperationException e) {
            return root.toString();
        }
    }

    /** From a partition to its disk, from a mapped device down to the disk below where there is just one. */
    private static String leaf(Path block) throws IOException {
        Path parent = block.getParent();
        if (parent != null && Files.exists(block.resolve("partition"))) {
            return leaf(parent);
        }
        Path slaves = block.resolve("slaves");
        if (Files.isDirectory(slaves)) {
            try (var below = Files.list(slaves)) {
                List<Path> disks = below.toList();
                if (disks.size() == 1) {
                    return leaf(disks.getFirst().toRealPath());
                }
            }
        }
        return block.toString();
    }
}
