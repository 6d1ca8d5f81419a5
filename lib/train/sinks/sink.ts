/** Where metrics go besides metrics.jsonl. */
export interface MetricSink {
  /** Metrics of a step; steps rise. Numbers that are not finite are passed on as such where the format has them. */
  log(step: number, metrics: Readonly<Record<string, number>>): void;
  /** Brings everything to its place. */
  close(): Promise<void>;
}

/** Options of {@link openSinks}. */
export interface SinkSettings {
  /** TensorBoard event files in `<folder>/tensorboard`. Default false. */
  readonly tensorboard?: boolean;
  /** A Weights & Biases run in `<folder>/wandb`; `online` hands it to the `wandb` command at the end. Default `off`. */
  readonly wandb?: "off" | "offline" | "online";
  /** Name of the run. Default: that of the folder. */
  readonly name?: string;
  /** Weights & Biases project. Default `minform`. */
  readonly project?: string;
  /** The resolved config, shown with the run. */
  readonly config?: object;
  /** The run goes on after this step: what an interrupted run logged beyond it is taken back. */
  readonly resumedAfter?: number;
}
