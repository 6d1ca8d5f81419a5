#include "promise_worker.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "device_array.h"

namespace minform {

namespace {

class Runner;
struct Environment;

struct Job {
  Environment* environment;
  Runner* runner;
  JobBody body;
  CancelFlag cancelled{false};
  int64_t status = 0;
  std::string error;    // not empty: the body threw
  int32_t failure = 0;  // the cuda::Status of what it threw, or 0
  // Touched on the JavaScript thread only.
  Napi::Promise::Deferred deferred;
  Napi::ObjectReference arguments;

  Job(Environment* owner, Runner* by, JobBody work, Napi::Env env)
      : environment(owner), runner(by), body(std::move(work)), deferred(env) {}

  void run() {
    try {
      status = cancelled ? kCancelled : body(cancelled);
    } catch (const cuda::Failure& refused) {
      error = refused.what();
      failure = static_cast<int32_t>(refused.status);
    } catch (const std::bad_alloc&) {
      error = "out of memory";
    } catch (const std::exception& exception) {
      error = exception.what();
    } catch (...) {
      error = "unknown failure";
    }
    body = nullptr;  // what it holds is free now, not when JavaScript next has a moment
    if (cancelled) status = kCancelled;
  }

  // For a job whose environment is going: it takes the references with it, and deleting them ourselves could come
  // after.
  void abandon() { arguments.SuppressDestruct(); }
};

using JobPointer = std::shared_ptr<Job>;

// Per Node environment.
struct Environment {
  Napi::Env env;
  napi_threadsafe_function settle = nullptr;
  int unsettled = 0;  // JavaScript thread only

  explicit Environment(Napi::Env environment) : env(environment) {}
};

// The thread of a lane and its queue.
class Runner {
 public:
  void submit(const JobPointer& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) {
      std::thread([this] { work(); }).detach();
      started_ = true;
    }
    pending_[job->environment].insert(job);
    queue_.push_back(job);
    wake_.notify_one();
  }

  // A job that still waits settles at once, one that runs when it next looks at its flag.
  void cancel(const JobPointer& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    job->cancelled = true;
    const auto found = std::find(queue_.begin(), queue_.end(), job);
    if (found == queue_.end()) return;
    queue_.erase(found);
    job->status = kCancelled;
    settleLater(job);
  }

  // After this no job of the environment runs or will run. Only the one that runs now is waited for, not those of
  // other environments in the queue before ours.
  void drain(Environment* environment) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto& pending = pending_[environment];
    for (const JobPointer& job : pending) job->cancelled = true;
    for (auto at = queue_.begin(); at != queue_.end();) {
      if ((*at)->environment == environment) {
        (*at)->abandon();
        pending.erase(*at);
        at = queue_.erase(at);
      } else {
        ++at;
      }
    }
    done_.wait(lock, [&] { return pending.empty(); });
    pending_.erase(environment);
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !queue_.empty(); });
      JobPointer job = queue_.front();
      queue_.pop_front();
      lock.unlock();
      job->run();
      lock.lock();
      settleLater(job);
      done_.notify_all();
    }
  }

  // Under the lock, so that drain() cannot let the environment go before the call is queued.
  void settleLater(const JobPointer& job) {
    pending_[job->environment].erase(job);
    auto* handle = new JobPointer(job);
    if (napi_call_threadsafe_function(job->environment->settle, handle, napi_tsfn_nonblocking) != napi_ok) {
      job->abandon();
      delete handle;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<JobPointer> queue_;
  std::unordered_map<Environment*, std::unordered_set<JobPointer>> pending_;  // queued or running
  bool started_ = false;
};

// Never destroyed: their threads may outlive main().
Runner& runnerOf(Lane lane) {
  static Runner* const instances = new Runner[2];
  return instances[static_cast<int>(lane)];
}

void settle(napi_env rawEnv, napi_value, void*, void* data) {
  auto* handle = static_cast<JobPointer*>(data);
  if (rawEnv == nullptr) {
    (*handle)->abandon();
    delete handle;
    return;
  }
  JobPointer job = *handle;
  delete handle;
  const Napi::Env env(rawEnv);
  Napi::HandleScope scope(env);
  Environment* environment = job->environment;
  if (--environment->unsettled == 0) napi_unref_threadsafe_function(env, environment->settle);
  try {
    job->arguments.Reset();
    if (job->error.empty()) {
      job->deferred.Resolve(Napi::Number::New(env, static_cast<double>(job->status)));
    } else if (job->failure != 0) {
      job->deferred.Reject(deviceError(env, static_cast<cuda::Status>(job->failure), job->error).Value());
    } else {
      job->deferred.Reject(Napi::Error::New(env, job->error).Value());
    }
  } catch (const Napi::Error&) {
    // The environment is being torn down: nobody waits for the promise any more.
  }
}

}  // namespace

void PromiseWorkers::install(Napi::Env env) {
  auto* environment = new Environment(env);
  const Napi::String name = Napi::String::New(env, "minform");
  napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, nullptr, settle,
                                  &environment->settle);
  napi_unref_threadsafe_function(env, environment->settle);
  env.SetInstanceData(environment);
  // Registered after the thread-safe function, hence run before its own clean-up.
  env.AddCleanupHook([environment] {
    for (const Lane lane : {Lane::kernels, Lane::device}) runnerOf(lane).drain(environment);
  });
}

Napi::Value PromiseWorkers::start(const Napi::CallbackInfo& info, JobBody body, Lane lane) {
  const Napi::Env env = info.Env();
  auto* environment = env.GetInstanceData<Environment>();
  auto job = std::make_shared<Job>(environment, &runnerOf(lane), std::move(body), env);
  Napi::Array kept = Napi::Array::New(env, info.Length());
  for (size_t i = 0; i < info.Length(); i++) kept.Set(static_cast<uint32_t>(i), info[i]);
  job->arguments = Napi::Persistent(kept.As<Napi::Object>());
  Napi::Object handle = Napi::Object::New(env);
  handle.Set("promise", job->deferred.Promise());
  handle.Set("cancel",
             Napi::Function::New(env, [job](const Napi::CallbackInfo&) { job->runner->cancel(job); }, "cancel"));
  job->runner->submit(job);
  if (environment->unsettled++ == 0) napi_ref_threadsafe_function(env, environment->settle);
  return handle;
}

}  // namespace minform
