#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer as a function, for programs with a `main` of their own
/// (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library). The compiler links it with -sanitize=fuzzer.
int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

/// Tells libFuzzer of code that this execution reached for the first time. Call it at the end of each execution.
void fuzzer_executed(void);
