import { getDefaultNormalizer, type MatcherFunction } from "@testing-library/react";

/** Matches a sentence in which a user's own words stand in markup (`renderVerbatim`). */
export function wholeText(expected: string | RegExp): MatcherFunction {
  const normalize = getDefaultNormalizer();
  return (_ownText, element) => {
    if (element === null || [...element.children].some(({ tagName }) => tagName !== "BDI")) return false;
    const text = normalize(element.textContent);
    return typeof expected === "string" ? text === expected : expected.test(text);
  };
}
