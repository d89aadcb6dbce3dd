import type { Frame, Page } from "@playwright/test";

/**
 * Runs a function in a document of the vault's origin, in the same profile, which sees what the
 * vault stores.
 */
export async function evaluateAtVault<Argument, Result>(
  page: Page,
  vaultOrigin: string,
  evaluate: (argument: Argument) => Result | Promise<Result>,
  argument: Argument,
): Promise<Result> {
  const vaultPage = await page.context().newPage();
  try {
    await vaultPage.goto(`${vaultOrigin}/controller`);
    return (await vaultPage.evaluate(evaluate as (argument: unknown) => Result | Promise<Result>, argument)) as Result;
  } finally {
    await vaultPage.close();
  }
}

/** The vault's frame in a portal's page. */
export function requireVaultFrame(page: Page): Frame {
  const frame = page.frames().find((candidate) => new URL(candidate.url()).pathname === "/controller");
  if (frame === undefined) throw new TypeError("the page has no frame of the vault");
  return frame;
}
