/** The part of an address that one customer holds: an IPv4 address, or the first 64 bits of an IPv6 one. */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return "unknown";
  const mapped = /^(?:0*:)*ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [, high, low] = /^(?:0*:)*ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? [];
  if (high !== undefined && low !== undefined) return [high, low].flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]).join(".");
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("%", 1).join("").split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0");
  return [...front, ...zeros, ...back].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}
