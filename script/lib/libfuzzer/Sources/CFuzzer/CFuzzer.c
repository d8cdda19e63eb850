#include "CFuzzer.h"

#include <stdlib.h>
#include <string.h>

// The compiler gives every edge of the program a counter, and libFuzzer reads and clears all that it knows after each
// execution: half a megabyte for a reader that reaches some kilobytes takes longer than the reader. So libFuzzer learns
// of a block of counters when an execution has first touched it. --wrap sends the program's own report here
// (https://clang.llvm.org/docs/SanitizerCoverage.html#inline-8bit-counters).

typedef struct {
  uintptr_t address, flags;
} Place;

void __real___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *end);
void __real___sanitizer_cov_pcs_init(const Place *start, const Place *end);

enum { block = 1024 };

static uint8_t *counters, *counters_end;
static const Place *places;
static uint8_t *is_known;
static size_t executions;

// Called once for each object file, always with the whole program's table.
void __wrap___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *end) {
  counters = start;
  counters_end = end;
}

void __wrap___sanitizer_cov_pcs_init(const Place *start, const Place *end) {
  (void)end;
  places = start;
}

// Called before each comparison of one or two bytes. libFuzzer puts the values of longer comparisons into its inputs;
// it notes these for -use_value_profile only, which script/fuzz does not use: up to a seventh of a reader's time.
void __wrap___sanitizer_cov_trace_cmp1(uint8_t one, uint8_t other) { (void)one, (void)other; }
void __wrap___sanitizer_cov_trace_cmp2(uint16_t one, uint16_t other) { (void)one, (void)other; }
void __wrap___sanitizer_cov_trace_const_cmp1(uint8_t one, uint8_t other) { (void)one, (void)other; }
void __wrap___sanitizer_cov_trace_const_cmp2(uint16_t one, uint16_t other) { (void)one, (void)other; }

static int is_touched(const uint8_t *start, const uint8_t *end) {
  uint64_t word;
  for (; start + sizeof word <= end; start += sizeof word) {
    memcpy(&word, start, sizeof word);
    if (word) return 1;
  }
  for (; start < end; start++)
    if (*start) return 1;
  return 0;
}

void fuzzer_executed(void) {
  // Most of what a reader reaches is reached by its first inputs.
  if (executions++ >= 4096 && executions % 256) return;
  size_t count = (size_t)(counters_end - counters);
  if (!is_known) is_known = calloc(count / block + 1, 1);
  for (size_t first = 0; first < count; first += block) {
    size_t last = first + block < count ? first + block : count;
    if (is_known[first / block] || !is_touched(counters + first, counters + last)) continue;
    is_known[first / block] = 1;
    __real___sanitizer_cov_8bit_counters_init(counters + first, counters + last);
    __real___sanitizer_cov_pcs_init(places + first, places + last);
  }
}
