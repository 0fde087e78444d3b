// What a shared library of kith exports: the public interface. Everything else is hidden.
#pragma once

#define KITH_EXPORT __attribute__((visibility("default")))
