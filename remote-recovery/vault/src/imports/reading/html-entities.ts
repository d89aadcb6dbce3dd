const entityPattern = /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/g;
const namedEntities: ReadonlyMap<string | undefined, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", "\u00A0"],
]);

/** Replaces HTML entities by their characters; leaves unknown ones. */
export function decodeEntities(text: string): string {
  return text.replace(entityPattern, (entity, name?: string, decimal?: string, hexadecimal?: string) => {
    const code = decimal === undefined ? parseInt(hexadecimal ?? "", 16) : Number(decimal);
    return namedEntities.get(name) ?? (code <= 0x10_ffff ? String.fromCodePoint(code) : entity);
  });
}

/** Whether a text may be HTML-encoded: it has no `<`, `>` or `&` outside entities. */
export function isEncodedText(text: string): boolean {
  return !/[<>&]/.test(text.replace(entityPattern, ""));
}
