// KITH_TEST_SANITIZED is 1 where the address or the thread sanitizer, which have a malloc of their own, is compiled in.
// KITH_TEST_SLOW is 1 there and where programs are emulated (KITH_TEST_EMULATED): what computes takes many times as
// long, so that tests repeat less.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC
#define KITH_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)  // Clang
#define KITH_TEST_SANITIZED 1
#endif
#endif
#ifndef KITH_TEST_SANITIZED
#define KITH_TEST_SANITIZED 0
#endif

#ifndef KITH_TEST_EMULATED
#define KITH_TEST_EMULATED 0
#endif
#define KITH_TEST_SLOW (KITH_TEST_SANITIZED || KITH_TEST_EMULATED)
