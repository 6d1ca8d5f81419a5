#include "minform/pool.h"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace minform {

namespace {

// Distinct (socket, core) pairs of Linux's /proc/cpuinfo; elsewhere the logical processors.
int physicalCores() {
  const int logical = static_cast<int>(std::thread::hardware_concurrency());
  std::set<std::pair<int, int>> cores;
  if (std::FILE* file = std::fopen("/proc/cpuinfo", "r")) {
    char line[256];
    int socket = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
      int value = 0;
      if (std::sscanf(line, "physical id : %d", &value) == 1) socket = value;
      if (std::sscanf(line, "core id : %d", &value) == 1) cores.emplace(socket, value);
    }
    std::fclose(file);
  }
  const int found = static_cast<int>(cores.size());
  if (found > 0 && (logical == 0 || found < logical)) return found;
  return logical > 0 ? logical : 1;
}

struct Job {
  ParallelBody body;
  void* context;
  int64_t count;
  std::atomic<int64_t> next{0};
  int helpers = 0;  // pool threads inside the job, guarded by Pool::mutex
  int limit = 0;    // how many may enter

  void run() {
    for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      body(context, i);
    }
  }
  bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
};

class Pool {
 public:
  int threads() const { return wanted_.load(std::memory_order_relaxed); }
  void setThreads(int threads) { wanted_.store(threads < 1 ? 1 : threads, std::memory_order_relaxed); }

  void run(Job& job) {
    job.limit = threads() - 1;
    if (job.limit <= 0 || job.count <= 1) {
      job.run();
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (started_ < job.limit && startThread()) {
      }
      jobs_.push_back(&job);
    }
    wake_.notify_all();
    job.run();
    std::unique_lock<std::mutex> lock(mutex_);
    for (size_t i = 0; i < jobs_.size(); i++) {
      if (jobs_[i] == &job) jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    done_.wait(lock, [&] { return job.helpers == 0; });
  }

 private:
  // A thread that cannot be had (limits of the container) only means less parallelism.
  bool startThread() {
    try {
      std::thread([this] { work(); }).detach();
    } catch (...) {
      return false;
    }
    started_++;
    return true;
  }

  Job* openJob() {
    for (Job* job : jobs_) {
      if (job->helpers < job->limit && !job->exhausted()) return job;
    }
    return nullptr;
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      wake_.wait(lock, [&] { return (job = openJob()) != nullptr; });
      job->helpers++;
      lock.unlock();
      job->run();
      lock.lock();
      if (--job->helpers == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Job*> jobs_;
  int started_ = 0;
  std::atomic<int> wanted_{physicalCores()};
};

// Never destroyed: the threads sleep on its members until the process ends.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

int numThreads() { return pool().threads(); }

void setNumThreads(int threads) { pool().setThreads(threads); }

void parallelFor(int64_t count, ParallelBody body, void* context) {
  Job job{};
  job.body = body;
  job.context = context;
  job.count = count;
  pool().run(job);
}

}  // namespace minform
