package ai.deltafin.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The binding says what the header says: every prototype of deltafin.h against the Java method that calls it. */
class AbiTest {
    private static final Pattern PROTOTYPE = Pattern.compile("DF_API\\s+([\\w\\s]+?\\*?)\\s*(df_\\w+)\\(([^)]*)\\);");

    @Test
    void everyPrototypeOfTheHeaderIsBoundWithItsTypes() throws IOException {
        String header = Files.readString(Path.of("src/main/c/include/deltafin.h"));
        Map<String, List<Class<?>>> bound = new HashMap<>();
        for (Method method : Abi.class.getDeclaredMethods()) {
            bound.put(method.getName(), List.of(method.getParameterTypes()));
        }
        Matcher matcher = PROTOTYPE.matcher(header);
        int seen = 0;
        while (matcher.find()) {
            seen++;
            String function = matcher.group(2);
            assertThat(bound)
                    .as("%s has a method %s", function, javaName(function))
                    .containsKey(javaName(function));
            assertThat(bound.get(javaName(function)))
                    .as("parameters of %s", function)
                    .isEqualTo(javaTypes(matcher.group(3)));
        }
        assertThat(seen).isGreaterThan(30);
    }

    @Test
    void theBindingIsWrittenForTheHeadersVersion() throws IOException {
        assertThat(Files.readString(Path.of("src/main/c/include/deltafin.h")))
                .contains("#define DF_ABI_VERSION " + Abi.VERSION + "\n");
    }

    private static String javaName(String function) {
        if (function.equals("df_import")) {
            return "importHost";
        }
        StringBuilder name = new StringBuilder();
        for (String word : function.substring("df_".length()).split("_")) {
            name.append(name.isEmpty() ? word : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
        }
        return name.toString();
    }

    private static List<Class<?>> javaTypes(String parameters) {
        List<Class<?>> types = new ArrayList<>();
        for (String parameter : parameters.trim().split("\\s*,\\s*")) {
            if (parameter.equals("void") || parameter.isEmpty()) {
                continue;
            }
            if (parameter.contains("*") || parameter.matches("(const )?(df_addr|uint64_t|int64_t) .*")) {
                types.add(long.class);
            } else if (parameter.startsWith("int32_t ")) {
                types.add(int.class);
            } else if (parameter.startsWith("float ")) {
                types.add(float.class);
            } else {
                throw new AssertionError("a parameter of unknown type: " + parameter);
            }
        }
        return types;
    }
}
