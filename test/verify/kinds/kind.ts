/** Pairs that are equal and pairs that are not, of one kind: [prediction, reference]. */
export interface Kind {
  readonly equal: readonly (readonly [string, string])[];
  readonly different: readonly (readonly [string, string])[];
}
