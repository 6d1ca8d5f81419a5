// Generation with a cache of keys and values. Rows are independent: a row enters when a slot is free and leaves when it
// is done, and its tokens do not depend on which rows are under way beside it.
#include <algorithm>
#include <numeric>

#include "minform/sampling.h"
#include "state.h"

namespace minform {

namespace {

constexpr int64_t kPrefillTokens = 4096;  // of prompts that enter together

// A name for a prompt that depends on its tokens alone.
uint64_t promptKey(const int32_t* ids, int64_t count) {
  uint64_t hash = 0x9E3779B97F4A7C15;
  for (int64_t i = 0; i < count; i++) {
    hash ^= static_cast<uint32_t>(ids[i]);
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    hash ^= hash >> 31;
  }
  return hash;
}

// The projections of a model with weights packed once.
template <class T>
Parameters<T> packed(const Parameters<T>& parameters, Arena& arena) {
  Parameters<T> copy = parameters;
  const auto pack = [&](LinearWeight<T>& weight) {
    T* to = arena.take<T>(modelKernels<T>().packedElements(weight.outputs, weight.inputs));
    modelKernels<T>().pack(weight, to);
    weight.packed = to;
  };
  for (LayerParameters<T>& layer : copy.layers) {
    for (Projection<T>* projection : {&layer.qkv, &layer.output, &layer.gateUp, &layer.down}) pack(projection->weight);
  }
  return copy;
}

}  // namespace

// Rows under way, one slot each.
template <class T>
class Decoding {
 public:
  using State = typename Engine<T>::State;

  Decoding(State& state, const Parameters<T>& parameters, const Generation<T>& request)
      : s_(state), request_(request), parameters_(packed(parameters, state.arena)), head_(request.head) {
    T* to = s_.arena.template take<T>(kernels_.packedElements(head_.outputs, head_.inputs));
    kernels_.pack(head_, to);
    head_.packed = to;
    int64_t longest = 0;
    for (int64_t i = 0; i < request.prompts.count; i++) longest = std::max(longest, request.prompts.length(i));
    longest_ = longest + request.maxTokens;
    capacity_ = (longest_ + kernels_.panel - 1) / kernels_.panel * kernels_.panel;
    perLayer_ = kernels_.cacheElements(s_.shape.heads, capacity_);
    const int64_t slots = std::min(request.batch, request.rows);
    const int64_t perSlot = perLayer_ * static_cast<int64_t>(parameters_.layers.size());
    T* memory = s_.arena.template take<T>(slots * perSlot);
    // Lanes past the last key are multiplied by 0: they must be numbers.
    std::fill(memory, memory + slots * perSlot, T(0));
    for (int64_t i = 0; i < slots; i++) free_.push_back(memory + i * perSlot);
  }

  int64_t run(const CancelFlag& cancelled) {
    while ((next_ < request_.rows || !active_.empty()) && !cancelled && status_ == kOk) {
      const auto free = static_cast<int64_t>(free_.size());
      const bool worthIt = active_.empty() || 8 * free >= static_cast<int64_t>(active_.size());
      if (next_ < request_.rows && free > 0 && worthIt) {
        admit(cancelled);
      } else {
        step(cancelled);
      }
    }
    return status_;
  }

 private:
  struct Row {
    int64_t index;  // in the request
    T* slot;
    int64_t prompt;
    int64_t written;
    int32_t last;

    int64_t position(const Generation<T>& request) const { return request.prompts.length(prompt) + written - 1; }
  };

  // Takes rows in order until slots or the budget of prompt tokens run out, and draws their first tokens.
  void admit(const CancelFlag& cancelled) {
    std::vector<Row> rows;
    std::vector<int64_t> prompts;  // those of the rows, each once
    int64_t tokens = 0;
    for (; next_ < request_.rows && !free_.empty(); next_++) {
      const int64_t prompt = request_.promptOf[next_];
      if (std::find(prompts.begin(), prompts.end(), prompt) == prompts.end()) {
        if (!prompts.empty() && tokens + request_.prompts.length(prompt) > kPrefillTokens) break;
        tokens += request_.prompts.length(prompt);
        prompts.push_back(prompt);
      }
      rows.push_back({next_, free_.back(), prompt, 0, 0});
      free_.pop_back();
    }
    const Scope scope(s_.arena);
    const T* hidden = prefill(rows, prompts, tokens, cancelled);
    if (!cancelled) draw(rows, hidden, cancelled);
  }

  // Runs the prompts and fills the slots; the hidden state of the last prompt token of every row.
  const T* prefill(const std::vector<Row>& rows, const std::vector<int64_t>& prompts, int64_t tokens,
                   const CancelFlag& cancelled) {
    std::vector<int32_t> ids, offsets{0}, positions;
    for (const int64_t prompt : prompts) {
      const int64_t length = request_.prompts.length(prompt);
      const int32_t* from = request_.ids + request_.prompts.begin(prompt);
      ids.insert(ids.end(), from, from + length);
      for (int64_t i = 0; i < length; i++) positions.push_back(static_cast<int32_t>(i));
      offsets.push_back(static_cast<int32_t>(ids.size()));
    }
    const Rows sequences{offsets.data(), static_cast<int64_t>(prompts.size())};
    std::vector<int32_t> lastOf;
    for (const Row& row : rows) lastOf.push_back(offsets[placeOf(prompts, row.prompt) + 1] - 1);
    const auto attend = [&](size_t layer, const T* qkv, T* out, T* logSum) {
      kernels_.attention(s_.shape.heads, sequences, s_.shape.windows[layer], qkv, out, logSum);
      for (const Row& row : rows) {
        const int64_t begin = sequences.begin(placeOf(prompts, row.prompt)),
                      length = request_.prompts.length(row.prompt);
        const std::vector<T*> slots(static_cast<size_t>(length), row.slot + static_cast<int64_t>(layer) * perLayer_);
        kernels_.cacheStore(s_.shape.heads, length, qkv + begin * s_.shape.heads.width(), positions.data() + begin,
                            {slots.data(), capacity_});
      }
    };
    const T* all = layers(ids, positions, tokens, attend, cancelled);
    T* last = s_.arena.template take<T>(static_cast<int64_t>(rows.size()) * s_.shape.hidden);
    kernels_.gatherRows(all, lastOf.data(), static_cast<int64_t>(rows.size()), s_.shape.hidden, last);
    return last;
  }

  static size_t placeOf(const std::vector<int64_t>& prompts, int64_t prompt) {
    return static_cast<size_t>(std::find(prompts.begin(), prompts.end(), prompt) - prompts.begin());
  }

  // One more token for every row under way.
  void step(const CancelFlag& cancelled) {
    std::vector<int32_t> ids, positions;
    for (const Row& row : active_) {
      ids.push_back(row.last);
      positions.push_back(static_cast<int32_t>(row.position(request_)));
    }
    const auto count = static_cast<int64_t>(active_.size());
    std::vector<T*> slots(active_.size());
    const auto attend = [&](size_t layer, const T* qkv, T* out, T*) {
      for (size_t i = 0; i < active_.size(); i++) slots[i] = active_[i].slot + static_cast<int64_t>(layer) * perLayer_;
      const CacheView<T> cache{slots.data(), capacity_};
      kernels_.cacheStore(s_.shape.heads, count, qkv, positions.data(), cache);
      kernels_.cachedAttention(s_.shape.heads, count, s_.shape.windows[layer], qkv, positions.data(), cache, out);
    };
    const Scope scope(s_.arena);
    const T* hidden = layers(ids, positions, count, attend, cancelled);
    std::vector<Row> rows;
    rows.swap(active_);
    if (!cancelled) draw(rows, hidden, cancelled);
  }

  // Embedding, layers and last norm of `count` tokens.
  template <class AttendLayer>
  const T* layers(const std::vector<int32_t>& ids, const std::vector<int32_t>& positions, int64_t count,
                  const AttendLayer& attendLayer, const CancelFlag& cancelled) {
    const int64_t elements = count * s_.shape.hidden;
    T* x = s_.arena.template take<T>(elements);
    T* out = s_.arena.template take<T>(elements);
    auto activations = LayerActivations<T>::take(s_.arena, s_.shape, count);
    kernels_.gatherRows(parameters_.embedding, ids.data(), count, s_.shape.hidden, x);
    for (size_t layer = 0; layer < parameters_.layers.size() && !cancelled; layer++) {
      activations.x = x;
      const Attend<T> attend = [&](const T* qkv, T* to, T* logSum) { attendLayer(layer, qkv, to, logSum); };
      layerForward(s_.context(parameters_.layers[layer], count, positions.data(), longest_), attend, activations, out);
      std::swap(x, out);
    }
    kernels_.rmsNorm(s_.lastNorm(count), x, parameters_.norm.weight, out, nullptr);
    return out;
  }

  // Draws a token for each of the rows from its hidden state; those that are not done stay under way.
  void draw(std::vector<Row>& rows, const T* hidden, const CancelFlag& cancelled) {
    const auto count = static_cast<int64_t>(rows.size());
    const Scope scope(s_.arena);
    T* logits = s_.arena.template take<T>(count * head_.outputs);
    kernels_.linear(hidden, count, head_, nullptr, 0, logits, head_.outputs);
    std::vector<RandomCounter> counters;
    for (const Row& row : rows) {
      const int32_t* prompt = request_.ids + request_.prompts.begin(row.prompt);
      counters.push_back({static_cast<uint32_t>(row.written), static_cast<uint32_t>(request_.sampleOf[row.index]),
                          promptKey(prompt, request_.prompts.length(row.prompt))});
    }
    std::vector<int32_t> tokens(rows.size());
    const int64_t bad = sampling<T>().sample({logits, kElement, count, head_.outputs}, request_.rule, request_.seed,
                                             counters.data(), {tokens.data(), nullptr, nullptr}, cancelled);
    if (cancelled) return;
    if (bad != kOk) {
      status_ = rows[static_cast<size_t>(bad)].index;
      return;
    }
    for (size_t i = 0; i < rows.size(); i++) rows[i].last = tokens[i];
    const T* logProbs = logProbsOf(rows, hidden);
    for (int64_t i = 0; i < count; i++) finish(rows[static_cast<size_t>(i)], logProbs[i]);
  }

  // By the kernel that training uses, so that the ratio of the first update is exactly 1.
  const T* logProbsOf(const std::vector<Row>& rows, const T* hidden) {
    const auto count = static_cast<int64_t>(rows.size());
    std::vector<int32_t> targets;
    for (const Row& row : rows) targets.push_back(row.last);
    T* logProbs = s_.arena.template take<T>(count);
    double* logSumExp = s_.arena.template take<double>(count);
    const CancelFlag never{false};
    const double temperature = request_.rule.temperature == 0 ? 1 : request_.rule.temperature;
    logprob<T>().linearForward({{hidden, kElement, count, head_.inputs},
                                {head_.data, kElement, head_.outputs, head_.inputs},
                                nullptr,
                                kElement},
                               targets.data(), temperature, {logProbs, nullptr, nullptr, logSumExp}, never);
    return logProbs;
  }

  void finish(Row& row, T logProb) {
    const int64_t at = row.index * request_.maxTokens + row.written++;
    request_.tokens[at] = row.last;
    request_.logProbs[at] = logProb;
    request_.lengths[row.index].store(static_cast<int32_t>(row.written), std::memory_order_release);
    const int32_t* end = request_.stops + request_.stopCount;
    const bool stopped = std::find(request_.stops, end, row.last) != end;
    if (!stopped && !isEnded(row) && row.written < request_.maxTokens) {
      active_.push_back(row);
      return;
    }
    request_.stopped[row.index] = stopped ? 1 : 0;
    free_.push_back(row.slot);
  }

  bool isEnded(const Row& row) const {
    return request_.ended != nullptr && request_.ended[row.index].load(std::memory_order_relaxed) != 0;
  }

  static constexpr Element kElement = sizeof(T) == sizeof(double) ? Element::float64 : Element::float32;

  const ModelKernels<T>& kernels_ = modelKernels<T>();
  State& s_;
  const Generation<T>& request_;
  Parameters<T> parameters_;
  LinearWeight<T> head_;
  int64_t longest_ = 0, capacity_ = 0, perLayer_ = 0, next_ = 0, status_ = kOk;
  std::vector<T*> free_;
  std::vector<Row> active_;
};

template <class T>
int64_t Engine<T>::generate(const Parameters<T>& parameters, const Generation<T>& request,
                            const CancelFlag& cancelled) {
  state_->pass.open = false;
  state_->arena.rewind({0, 0});
  return Decoding<T>(*state_, parameters, request).run(cancelled);
}

template int64_t Engine<float>::generate(const Parameters<float>&, const Generation<float>&, const CancelFlag&);
template int64_t Engine<double>::generate(const Parameters<double>&, const Generation<double>&, const CancelFlag&);

}  // namespace minform
