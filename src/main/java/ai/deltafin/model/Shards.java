package ai.deltafin.model;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Which files a checkpoint is made of: those that {@code model.safetensors.index.json} names, or every safetensors file of
 * the directory where there is no index.
 */
final class Shards {
    static final String INDEX = "model.safetensors.index.json";

    private static final int MAX_FILES = 10_000;
    private static final Pattern NUMBERED = Pattern.compile("(.*-)(\\d{1,8})(-of-)(\\d{1,8})(\\.safetensors)");
    private static final String AGAIN = "download the index again";

    private final Path directory;
    private final Path index;

    Shards(Path directory) {
        this.directory = directory;
        this.index = directory.resolve(INDEX);
    }

    private boolean hasIndex() {
        return ModelFiles.exists(index);
    }

    /** The files, by name. */
    List<Path> files() {
        Set<String> names = hasIndex() ? indexed() : listed();
        if (names.isEmpty()) {
            throw new ModelException(
                    directory + ": expected safetensors files, found none; give the directory of a downloaded model");
        }
        return names.stream().map(directory::resolve).toList();
    }

    private Set<String> indexed() {
        Set<String> names = new TreeSet<>();
        scan((tensor, file) -> {
            if (names.add(file)) {
                checkName(file, tensor);
            }
            if (names.size() > MAX_FILES) {
                throw ModelException.mismatch(index, "files", "at most " + MAX_FILES, "more", AGAIN);
            }
        });
        return names;
    }

    private void checkName(String file, String tensor) {
        boolean plain = file.endsWith(".safetensors") && file.chars().noneMatch(c -> c == '/' || c == '\\' || c < ' ');
        if (!plain) {
            throw ModelException.mismatch(
                    index, tensor, "the name of a safetensors file beside the index", file, AGAIN);
        }
    }

    private Set<String> listed() {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "*.safetensors")) {
            for (Path file : found) {
                names.add(Objects.requireNonNull(file.getFileName()).toString());
                if (names.size() > MAX_FILES) {
                    throw ModelException.mismatch(
                            directory,
                            "safetensors files",
                            "at most " + MAX_FILES,
                            "more",
                            "give the directory of one model");
                }
            }
        } catch (IOException e) {
            throw ModelFiles.unreadable(directory, e);
        }
        names.forEach(name -> checkComplete(name, names));
        return names;
    }

    /** Of files numbered "x of n", each must be there: the first missing one is named. */
    private void checkComplete(String name, Set<String> names) {
        Matcher parts = NUMBERED.matcher(name);
        if (!parts.matches()) {
            return;
        }
        int total = Integer.parseInt(parts.group(4));
        if (total > MAX_FILES) {
            throw ModelException.mismatch(
                    directory.resolve(name),
                    "number of files",
                    "at most " + MAX_FILES,
                    total,
                    "check the name of the file");
        }
        String number = "%0" + parts.group(2).length() + "d";
        for (int i = 1; i <= total; i++) {
            String sibling = parts.group(1) + number.formatted(i) + parts.group(3) + parts.group(4) + parts.group(5);
            if (!names.contains(sibling)) {
                throw new ModelException(directory.resolve(sibling) + ": expected, since " + name
                        + " is there, found no such file; download it");
            }
        }
    }

    /** Checks that the index, if there is one, names exactly the tensors of the headers, each in its file. */
    void checkIndex(TensorCatalog catalog) {
        if (!hasIndex()) {
            return;
        }
        Set<String> seen = new HashSet<>();
        long[] count = new long[1];
        scan((tensor, file) -> {
            Path expected = directory.resolve(file);
            Path found = lookUp(catalog, tensor, seen);
            count[0]++;
            if (found == null) {
                throw ModelException.mismatch(
                        index, tensor, "in " + file, "no such tensor in the headers, or listed twice", AGAIN);
            }
            if (!found.equals(expected)) {
                throw ModelException.mismatch(index, tensor, "in " + file, "in " + found.getFileName(), AGAIN);
            }
        });
        if (count[0] != catalog.count()) {
            throw ModelException.mismatch(
                    index,
                    "weight_map",
                    catalog.count() + " tensors, as in the headers",
                    count[0] + missing(catalog, seen),
                    AGAIN);
        }
    }

    private static @org.jspecify.annotations.Nullable Path lookUp(
            TensorCatalog catalog, String tensor, Set<String> seen) {
        String name = TensorCatalog.bare(tensor);
        ExpertName expert = ExpertName.parse(name);
        if (expert != null) {
            return catalog.experts(expert.layer())
                    .map(collector -> collector.markIndexed(expert))
                    .orElse(null);
        }
        return catalog.find(name)
                .filter(found -> found.name().equals(tensor) && seen.add(name))
                .map(TensorInfo::file)
                .orElse(null);
    }

    private static String missing(TensorCatalog catalog, Set<String> seen) {
        return catalog.tensors().keySet().stream()
                .filter(name -> !seen.contains(name))
                .sorted()
                .findFirst()
                .map(name -> ", without " + name)
                .orElse(", without some experts");
    }

    private void scan(BiConsumer<String, String> entries) {
        try (FileChannel channel = ModelFiles.open(index);
                JsonParser json = ModelJson.parser(ModelFiles.stream(channel, 0, channel.size()))) {
            require(json.nextToken() == JsonToken.START_OBJECT, "a JSON object");
            boolean found = false;
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                boolean map = json.currentName().equals("weight_map");
                require(!map || !found, "weight_map once");
                found |= map;
                json.nextToken();
                if (map) {
                    weightMap(json, entries);
                } else {
                    json.skipChildren();
                }
            }
            require(found, "weight_map");
            require(json.nextToken() == null, "nothing behind the JSON object");
        } catch (JacksonException e) {
            throw ModelJson.broken(index, "", e);
        } catch (IOException e) {
            throw ModelFiles.unreadable(index, e);
        }
    }

    private void weightMap(JsonParser json, BiConsumer<String, String> entries) {
        require(json.currentToken() == JsonToken.START_OBJECT, "weight_map as an object");
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String tensor = json.currentName();
            require(json.nextToken() == JsonToken.VALUE_STRING, "the file name of " + tensor);
            entries.accept(tensor, json.getString());
        }
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new ModelException(index + ": expected " + what + ", found something else; " + AGAIN);
        }
    }
}
