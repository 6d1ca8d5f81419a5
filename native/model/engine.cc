#include <algorithm>

#include "state.h"

namespace minform {

template <class T>
Engine<T>::Engine(ModelShape shape) : state_(new State(std::move(shape))) {}

template <class T>
Engine<T>::~Engine() {}

template <class T>
const ModelShape& Engine<T>::shape() const {
  return state_->shape;
}

template <class T>
int64_t Engine<T>::bytes() const {
  return state_->arena.held();
}

template <class T>
int64_t Engine<T>::tokens() const {
  return state_->pass.open ? state_->pass.tokens() : 0;
}

template <class T>
bool Engine<T>::canGoBack() const {
  return state_->pass.open && state_->pass.keep != Keep::nothing;
}

namespace {

template <class T>
int64_t startPass(Pass<T>& pass, const Rows& sequences, const int32_t* ids, Keep keep) {
  pass.ids.assign(ids, ids + sequences.total());
  pass.offsets.assign(sequences.offsets, sequences.offsets + sequences.count + 1);
  pass.positions.resize(pass.ids.size());
  pass.keep = keep;
  pass.layers.clear();
  pass.dHidden = nullptr;
  pass.open = false;
  int64_t longest = 0;
  for (int64_t row = 0; row < sequences.count; row++) {
    longest = std::max(longest, sequences.length(row));
    for (int64_t i = sequences.begin(row); i < sequences.end(row); i++) {
      pass.positions[static_cast<size_t>(i)] = static_cast<int32_t>(i - sequences.begin(row));
    }
  }
  return longest;
}

}  // namespace

template <class T>
int64_t Engine<T>::forward(const Parameters<T>& parameters, const Rows& sequences, const int32_t* ids, Keep keep,
                           const CancelFlag& cancelled) {
  State& s = *state_;
  Pass<T>& pass = s.pass;
  const auto& kernels = modelKernels<T>();
  s.arena.rewind({0, 0});
  const int64_t longest = startPass(pass, sequences, ids, keep), rows = pass.tokens(), width = s.shape.hidden;
  T* x = s.arena.template take<T>(rows * width);
  T* spare = keep == Keep::nothing ? s.arena.template take<T>(rows * width) : nullptr;
  pass.hidden = s.arena.template take<T>(rows * width);
  pass.inverse = s.arena.template take<T>(rows);
  kernels.gatherRows(parameters.embedding, pass.ids.data(), rows, width, x);
  for (size_t layer = 0; layer < parameters.layers.size(); layer++) {
    if (cancelled) return kOk;
    T* out = spare != nullptr ? spare : s.arena.template take<T>(rows * width);
    const Arena::Mark mark = s.arena.mark();
    auto activations = LayerActivations<T>::take(s.arena, s.shape, rows);
    activations.x = x;
    const Attend<T> attend = [&](const T* qkv, T* to, T* logSum) {
      kernels.attention(s.shape.heads, sequences, s.shape.windows[layer], qkv, to, logSum);
    };
    layerForward(s.context(parameters.layers[layer], rows, pass.positions.data(), longest), attend, activations, out);
    if (keep == Keep::nothing) spare = x;
    if (keep != Keep::activations) s.arena.rewind(mark);
    pass.layers.push_back(activations);
    x = out;
  }
  pass.last = x;
  kernels.rmsNorm(s.lastNorm(rows), x, parameters.norm.weight, pass.hidden, pass.inverse);
  pass.open = !cancelled;
  return kOk;
}

template <class T>
void Engine<T>::backward(const Parameters<T>& parameters, const CancelFlag& cancelled) {
  State& s = *state_;
  Pass<T>& pass = s.pass;
  pass.open = false;
  if (pass.dHidden == nullptr) return;
  const auto& kernels = modelKernels<T>();
  const int64_t rows = pass.tokens();
  const Rows sequences = pass.sequences();
  int64_t longest = 0;
  for (int64_t row = 0; row < sequences.count; row++) longest = std::max(longest, sequences.length(row));
  T* d = pass.dHidden;
  kernels.rmsNormBackward(s.lastNorm(rows), d, pass.last, parameters.norm.weight, pass.inverse, false, d,
                          parameters.norm.grad);
  for (size_t i = parameters.layers.size(); i-- > 0 && !cancelled;) {
    const Scope scope(s.arena);
    LayerActivations<T> activations = pass.layers[i];
    const auto context = s.context(parameters.layers[i], rows, pass.positions.data(), longest);
    if (pass.keep == Keep::inputs) {
      const T* x = activations.x;
      activations = LayerActivations<T>::take(s.arena, s.shape, rows);
      activations.x = x;
      const Attend<T> attend = [&](const T* qkv, T* to, T* logSum) {
        kernels.attention(s.shape.heads, sequences, s.shape.windows[i], qkv, to, logSum);
      };
      T* out = s.arena.template take<T>(rows * s.shape.hidden);
      layerForward(context, attend, activations, out);
    }
    layerBackward(context, sequences, s.shape.windows[i], activations, d);
  }
  if (parameters.gradEmbedding != nullptr && !cancelled)
    kernels.scatterAddRows(d, pass.ids.data(), rows, s.shape.hidden, parameters.gradEmbedding);
}

#define MINFORM_INSTANTIATE(T)                                                                                     \
  template Engine<T>::Engine(ModelShape);                                                                          \
  template Engine<T>::~Engine();                                                                                   \
  template const ModelShape& Engine<T>::shape() const;                                                             \
  template int64_t Engine<T>::bytes() const;                                                                       \
  template int64_t Engine<T>::tokens() const;                                                                      \
  template bool Engine<T>::canGoBack() const;                                                                      \
  template int64_t Engine<T>::forward(const Parameters<T>&, const Rows&, const int32_t*, Keep, const CancelFlag&); \
  template void Engine<T>::backward(const Parameters<T>&, const CancelFlag&);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace minform
