/* The micro vectors of the model's specification (k3-model.md, appendix A), on every instruction set. */
#include "every_device.h"

#include <math.h>

static df_queue *q; /* of the device under test */

static df_addr at(const float *x) {
    return test_address(x);
}

static void near(const char *name, const float *got, const double *expected, int n) {
    check_close(name, got, expected, n, 2e-6, 1e-7);
}

static void situ(void) {
    float g[] = {1, -3, 10, 0.1f, 100}, u[] = {2, 5, 30, -0.2f, 100};
    static const double expected[] = {1.4293511315552, -0.5945436833059, 82.2458215452790, -0.0104971729443,
                                      99.9329299739067};
    test_ok(q, df_activate(q, at(g), at(g), at(u), 5, DF_ACT_SITU, 4, 25));
    near("situ", g, expected, 5);
}

/* Four heads of one channel; the decay is exp(g). */
static void decay(void) {
    float z[] = {0, 1, -2, 3}, bias[4] = {0};
    float a[] = {1, expf(0.5f), expf(-0.468f), expf(1.007f)};
    static const double g[] = {-2.5, -4.193590758022, -1.111332293286, -4.998643656845};
    double expected[4];
    for (int i = 0; i < 4; i++)
        expected[i] = exp(g[i]);
    test_ok(q, df_decay(q, at(z), at(z), at(bias), at(a), 4, 1, 1, -5));
    near("decay", z, expected, 4);
}

static void norms(void) {
    float x[] = {3, 4, 3e-4f, 4e-4f}, y[] = {1, 2, 3, 4}, ones[] = {1, 1, 1, 1};
    static const double l2[] = {0.599999988, 0.799999984, 0.2683281573, 0.3577708764};
    static const double rms[] = {0.3651481282, 0.7302962565, 1.0954443847, 1.4605925130};
    test_ok(q, df_l2norm(q, at(x), at(x), 2, 2, 1, 1));
    near("l2norm", x, l2, 4);
    test_ok(q, df_rms(q, at(y), 4, at(y), 4, at(ones), 4, 1, 1e-5f));
    near("rms", y, rms, 4);
}

static void convolution(void) {
    float x[] = {0, 0, 0, 1, 2, 3, 4, 5}, w[] = {0.1f, 0.2f, 0.3f, 0.4f}, y[5];
    static const double expected[] = {0.239475064, 0.825286116, 1.761594156, 2.857722381, 3.928055160};
    test_ok(q, df_short_conv(q, at(y), 1, at(x + 3), 1, at(w), 1, 4, 5));
    near("short convolution", y, expected, 5);
}

static void mix(void) {
    float sources[] = {1, 0, 2, -1, 0.5f, 0.5f, -0.5f, 1, 3, -2, 1, 0}, out[4];
    float fold[] = {0.2f, 0.5f * -0.4f, 2 * 0.1f, 0.3f};
    static const double expected[] = {1.68917919, -0.68917919, 0.833980862, 0.016668312};
    test_ok(q, df_mix(q, at(out), 4, at(sources), 4, 4, 3, at(fold), 4, 1, 1e-5f));
    near("mix", out, expected, 4);
}

static void route(void) {
    float logits[] = {0.2f, -1, 0.7f, 0.1f}, bias[] = {0, 0.4f, -0.3f, 0.05f}, weights[2];
    int32_t ids[2];
    static const double expected[] = {0.3387510267, 0.6612489733};
    df_route_shape shape = {4, 2, DF_ROUTER_SIGMOID, 1, 1, 1, 1, 0};
    test_ok(q, df_route(q, &shape, test_address(ids), at(weights), at(logits), at(bias), 1));
    CHECK(ids[0] == 1 && ids[1] == 3, "route {%d, %d}, not {1, 3}", ids[0], ids[1]);
    near("route weights", weights, expected, 2);
}

/* One head, D 2, two steps, from the raw projections on. */
static void kda(void) {
    float qs[] = {3, 4, 1, 0}, ks[] = {1, 2, 2, -1}, v[] = {1, -1, 0.5f, 2}, z[] = {0, 1, -1, 2};
    float beta[] = {0.3f, -0.7f}, bias[2] = {0}, a[] = {expf(0.5f)}, state[4] = {0}, out[4];
    static const double first[] = {0.2568984777, -0.2568984777, 0.5137969553, -0.5137969553};
    static const double second[] = {0.2331889388, 0.5087656842, -0.0551096081, -0.3158677035};
    static const double outputs[] = {0.3996402344, -0.3996402344, 0.1648893975, 0.3597514854};
    test_ok(q, df_l2norm(q, at(qs), at(qs), 1, 2, 2, 0.70710678f));
    test_ok(q, df_l2norm(q, at(ks), at(ks), 1, 2, 2, 1));
    test_ok(q, df_decay(q, at(z), at(z), at(bias), at(a), 1, 2, 2, -5));
    test_ok(q, df_sigmoid(q, at(beta), at(beta), 2));
    df_kda_op op = {.state = at(state),
                    .q = at(qs),
                    .k = at(ks),
                    .v = at(v),
                    .alpha = at(z),
                    .beta = at(beta),
                    .out = at(out),
                    .heads = 1,
                    .D = 2,
                    .T = 2,
                    .keep = 1};
    test_ok(q, df_kda(q, &op)); /* both outputs, but only the first row reaches the state */
    near("kda outputs", out, outputs, 4);
    near("kda state after one row", state, first, 4);
    op.q = at(qs + 2);
    op.k = at(ks + 2);
    op.v = at(v + 2);
    op.alpha = at(z + 2);
    op.beta = at(beta + 1);
    op.T = 1;
    test_ok(q, df_kda(q, &op));
    near("kda state after two rows", state, second, 4);
}

int main(void) {
    every_open();
    for (int i = 0; i < every_count; i++) {
        q = every[i].queue;
        situ();
        decay();
        norms();
        convolution();
        mix();
        route();
        kda();
    }
    every_close();
    return test_end();
}
