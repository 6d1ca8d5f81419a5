// A reward of one's own: right answers are worth the more the shorter they are. One number per response stands at its last
// token; an array of one number per token would be a dense reward.
export default function reward({ prompts, promptOf, texts, tokens: { offsets } }) {
  const verified = texts.map((text, row) =>
    Number(text.endsWith(`\\boxed{${prompts[promptOf[row]].answer}}`)),
  );
  const rewards = verified.map((right, row) => [right * (1 - (offsets[row + 1] - offsets[row]) / 100)]);
  return { rewards, verified };
}
