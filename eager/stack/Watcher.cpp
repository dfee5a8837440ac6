//===- Watcher.cpp - what is told of reads and updates --------------------===//
#include "eager/stack/Watcher.h"

namespace tess::eager {

static constinit thread_local Watcher *current = nullptr;

void setWatcher(Watcher *watcher) { current = watcher; }

Watcher *activeWatcher() { return current; }

} // namespace tess::eager
