/** The FFM binding of the kernel ABI (src/main/c/include/deltafin.h) and the choice of its provider. */
@org.jspecify.annotations.NullMarked
package ai.deltafin.kernel;
