import type { MetricSink, SinkSettings } from "./sink.ts";

export type { MetricSink, SinkSettings } from "./sink.ts";

/**
 * Opens the sinks that are asked for as one; without any it is a sink that drops everything.
 *
 * @param folder - the run's folder
 * @throws {@link InputError} `ERR_INPUT` when nothing can be written there
 */
export declare function openSinks(folder: string, settings?: SinkSettings): MetricSink;
