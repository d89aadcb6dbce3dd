import { expect, type Locator } from "@playwright/test";

/** Texts of a list's items, once the list has as many as expected. */
export async function readItems(list: Locator, count: number): Promise<string[]> {
  const items = list.getByRole("listitem");
  await expect(items).toHaveCount(count);
  return items.allTextContents();
}
