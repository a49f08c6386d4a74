/* Devices, the worker pool and memory: choices and refusals, blocks that read as zero, any number of threads on any
 * number of cores, queues that share a device. */
#include "test.h"

#include <pthread.h>
#include <time.h>

static void test_choices(void) {
    df_device_info info;
    df_device *device = test_device(DF_ISA_BEST, 0);
    CHECK(df_device_describe(device, &info) == DF_OK && info.threads >= 1 && info.unified == 1 && info.name[0] &&
              info.isa[0],
          "describe");
    printf("  %s, %s, %d threads by default\n", info.name, info.isa, info.threads);
    df_device_close(device);
    CHECK(df_abi_version() == DF_ABI_VERSION, "version");
    df_device_options bad[] = {{-1, 0, 0, 0}, {100000, 0, 0, 0}, {1, 9, 0, 0}, {1, 0, 1, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        device = (df_device *)&info;
        CHECK(df_device_open(&bad[i], &device) == DF_E_ARGUMENT && !device && df_last_error()[0], "options %zu", i);
    }
    CHECK(df_device_open(NULL, &device) == DF_E_ARGUMENT, "null options");
    CHECK(df_device_open(&bad[0], NULL) == DF_E_ARGUMENT, "null out");
    CHECK(df_queue_open(NULL, NULL) == DF_E_ARGUMENT, "null queue out");
}

static void test_memory_blocks(void) {
    static const uint64_t sizes[] = {1, 64, 4096, 100000, (2 << 20) - 1, 2 << 20, (5 << 20) + 3};
    enum { N = sizeof sizes / sizeof *sizes };
    df_device *device = test_device(DF_ISA_BEST, 1);
    df_queue *q = test_queue(device);
    for (int round = 0; round < 3; round++) {
        df_addr blocks[N];
        for (int i = 0; i < N; i++) {
            NEED(df_alloc(device, sizes[i], i % 2, &blocks[i]) == DF_OK, "%s", df_last_error());
            uint8_t *p = (uint8_t *)(uintptr_t)blocks[i];
            CHECK(blocks[i] % (sizes[i] >= 2 << 20 ? 2 << 20 : 64) == 0, "alignment of %llu bytes",
                  (unsigned long long)sizes[i]);
            uint64_t set = 0;
            for (uint64_t b = 0; b < sizes[i]; b++)
                set += p[b] != 0;
            CHECK(!set, "%llu bytes read as zero", (unsigned long long)sizes[i]);
            memset(p, 0xa5, sizes[i]);
        }
        uint8_t text[64] = "round trip", back[64];
        CHECK(df_write(q, blocks[1], text, 64) == DF_OK && df_read(q, back, blocks[1], 64) == DF_OK &&
                  !memcmp(text, back, 64),
              "write and read");
        for (int i = 0; i < N; i++)
            CHECK(df_free(device, blocks[(i + 3) % N]) == DF_OK, "%s", df_last_error());
        CHECK(df_free(device, blocks[0]) == DF_E_ARGUMENT, "a block given back twice");
    }
    df_addr address;
    CHECK(df_alloc(device, 0, 0, &address) == DF_E_ARGUMENT && !address, "0 bytes");
    CHECK(df_alloc(device, 64, 7, &address) == DF_E_ARGUMENT, "unknown kind of memory");
    CHECK(df_alloc(device, UINT64_MAX - 5, 0, &address) == DF_E_MEMORY && !address, "more than there can be");
    CHECK(df_alloc(device, UINT64_C(1) << 60, 0, &address) == DF_E_MEMORY && df_last_error()[0], "an exabyte");
    uint8_t here[3];
    CHECK(df_import(device, here + 1, 2, &address) == DF_OK && address == test_address(here + 1), "import in place");
    CHECK(df_release(device, address) == DF_OK, "release");
    CHECK(df_import(device, NULL, 2, &address) == DF_E_ARGUMENT, "import nothing");
    CHECK(df_read(q, NULL, 1, 1) == DF_E_ARGUMENT && df_write(q, 0, here, 1) == DF_E_ARGUMENT, "null copies");
    df_alloc(device, 3 << 20, 0, &address); /* left for close: the sanitizer would tell */
    df_queue_close(q);
    df_device_close(device);
}

/* What several threads do at once on one device, each with a queue of its own. */
struct user {
    df_device *device;
    const uint8_t *w;
    const float *x, *expected;
    int64_t rows, cols;
    int wrong;
};

static void *use(void *arg) {
    struct user *u = arg;
    df_queue *q = test_queue(u->device);
    float *y = test_memory((size_t)u->rows * sizeof *y);
    for (int i = 0; i < 40; i++) {
        memset(y, 0, (size_t)u->rows * sizeof *y);
        df_matmul_op op = {
            test_address(u->w), 0, test_address(u->x), test_address(y), u->rows, u->cols, u->cols, u->rows, DF_BF16, 0};
        test_ok(q, df_matmul(q, &op, 1, 1));
        u->wrong += test_difference(u->expected, y, u->rows) >= 0;
        if (i % 8 == 7) nanosleep(&(struct timespec){0, 300000}, NULL); /* workers fall asleep in between */
    }
    free(y);
    df_queue_close(q);
    return NULL;
}

/* Every number of threads, far more than cores, one user and three, workers awake and asleep, and a clean end. */
static void test_pool(int quick) {
    enum { ROWS = 700, COLS = 320, USERS = 3 };
    uint64_t seed = 9;
    uint8_t *w = test_memory(ROWS * COLS * 2);
    float *x = test_memory(COLS * sizeof *x), *expected = test_memory(ROWS * sizeof *expected);
    for (int i = 0; i < ROWS * COLS; i++) {
        float value = test_float(&seed);
        memcpy(w + 2 * i, (uint8_t *)&value + 2, 2);
    }
    test_floats(x, COLS, 10);
    df_matmul_op op = {test_address(w), 0, test_address(x), test_address(expected), ROWS, COLS, COLS, ROWS, DF_BF16, 0};
    df_device *one = test_device(DF_ISA_SCALAR, 1);
    df_queue *q = test_queue(one);
    test_ok(q, df_matmul(q, &op, 1, 1));
    df_queue_close(q);
    df_device_close(one);
    static const int32_t counts[] = {1, 2, 3, 4, 7, 16, 64};
    for (size_t c = 0; c < sizeof counts / sizeof *counts - (quick ? 2 : 0); c++) {
        df_device *device = test_device(DF_ISA_BEST, counts[c]);
        struct user users[USERS];
        pthread_t threads[USERS];
        for (int i = 0; i < USERS; i++)
            users[i] = (struct user){device, w, x, expected, ROWS, COLS, 0};
        use(&users[0]);
        for (int i = 0; i < USERS; i++)
            NEED(!pthread_create(&threads[i], NULL, use, &users[i]), "thread");
        for (int i = 0; i < USERS; i++) {
            pthread_join(threads[i], NULL);
            CHECK(!users[i].wrong, "%d threads: %d wrong results", counts[c], users[i].wrong);
        }
        df_device_close(device);
    }
    for (int i = 0; i < (quick ? 20 : 200); i++)
        df_device_close(test_device(DF_ISA_BEST, 4)); /* opened, never used */
    free(w);
    free(x);
    free(expected);
}

int main(int argc, char **argv) {
    test_choices();
    test_memory_blocks();
    test_pool(test_quick(argc, argv));
    return test_end();
}
