import type { ReactNode } from "react";

import { markedText, removeBidiControls } from "../contract/bidi-isolation.ts";

interface VerbatimProps {
  readonly children: string;
}

/**
 * A user's own text, such as a title. It is not translated, and cannot reorder the text around it.
 */
export function Verbatim({ children }: VerbatimProps) {
  return <bdi translate="no">{removeBidiControls(children)}</bdi>;
}

/** A sentence in which each value of `markVerbatim` is {@link Verbatim}. */
export function renderVerbatim(sentence: string): ReactNode {
  const parts = sentence.split(markedText);
  return parts.length === 1
    ? sentence
    : parts.map((part, index) => (index % 2 === 0 ? part : <Verbatim key={index}>{part}</Verbatim>));
}
