package ai.deltafin;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Keeps the arrows between the rooms as the table in docs/architecture.md draws them. */
@AnalyzeClasses(packages = "ai.deltafin", importOptions = ImportOption.DoNotIncludeTests.class)
class RoomsTest {

    private static final String ROOT = "ai.deltafin.";

    /** Room and the rooms it may import. */
    private static final Map<String, Set<String>> MAY_IMPORT = Map.ofEntries(
            Map.entry("server", Set.of("pipeline", "chat", "config")),
            Map.entry("pipeline", Set.of("engine", "chat", "expert", "config")),
            Map.entry("chat", Set.of("model")),
            Map.entry("engine", Set.of("kernel", "model", "expert")),
            Map.entry("expert", Set.of("io", "model")),
            Map.entry("io", Set.of("kernel")),
            Map.entry("kernel", Set.of()),
            Map.entry("model", Set.of()),
            Map.entry("setup", Set.of("model", "io", "config")),
            Map.entry(
                    "bench",
                    Set.of(
                            "server",
                            "pipeline",
                            "chat",
                            "engine",
                            "expert",
                            "io",
                            "kernel",
                            "model",
                            "setup",
                            "config")),
            Map.entry("config", Set.of()));

    @ArchTest
    static void arrowsGoDownTheTable(JavaClasses classes) {
        MAY_IMPORT.forEach((room, allowed) -> {
            List<String> forbidden = new ArrayList<>(Stream.concat(MAY_IMPORT.keySet().stream(), Stream.of("cli"))
                    .filter(other -> !other.equals(room) && !allowed.contains(other))
                    .map(other -> ROOT + other + "..")
                    .toList());
            noClasses()
                    .that()
                    .resideInAPackage(ROOT + room + "..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(forbidden.toArray(String[]::new))
                    .allowEmptyShould(true)
                    .check(classes);
        });
    }

    @ArchTest
    static final ArchRule everyClassHasARoom = classes()
            .should()
            .resideInAnyPackage(Stream.concat(MAY_IMPORT.keySet().stream(), Stream.of("cli"))
                    .map(room -> ROOT + room + "..")
                    .toArray(String[]::new))
            .orShould()
            .haveSimpleName("package-info");

    @ArchTest
    static final ArchRule onlyServerAndPipelineKnowVertx = noClasses()
            .that()
            .resideInAnyPackage(ROOT + "engine..", ROOT + "expert..", ROOT + "io..", ROOT + "model..", ROOT + "chat..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.vertx..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule onlyTheNativeBindingsLink = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + "kernel..", ROOT + "io..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.lang.foreign.Linker");
}
