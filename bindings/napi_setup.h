// The only place that includes napi.h, so that every file is compiled under the same policy.
#pragma once

// Any C++ exception becomes a JavaScript one; with plain CPP_EXCEPTIONS a std::runtime_error ends the process.
#define NODE_ADDON_API_CPP_EXCEPTIONS_ALL
// worker.terminate() with work pending would otherwise abort the process.
#define NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS
#define NODE_ADDON_API_DISABLE_DEPRECATED
// Electron forbids external buffers: results live in memory that JavaScript allocated.
#define NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED

#include <napi.h>
