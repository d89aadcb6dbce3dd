/** Settings of a one-time password (RFC 6238 and 4226). */
export interface OtpSettings {
  readonly kind: "totp" | "hotp";
  /** base32. */
  readonly secret: string;
  readonly issuer?: string | null;
  readonly account?: string | null;
  /** `SHA1`, `SHA256`, `SHA512`. */
  readonly algorithm?: string | null;
  readonly digits?: string | number | null;
  readonly period?: string | number | null;
  readonly counter?: string | number | null;
  /** Steam's codes use their own letters. */
  readonly encoder?: "steam";
}

/** Formats an `otpauth:` URL. Omits settings that have the usual values. */
export function formatOtpAddress({ kind, secret, issuer, account, ...settings }: OtpSettings): string {
  const label = [issuer, account]
    .filter((part) => part != null && part !== "")
    .map((part) => encodeURIComponent(part ?? ""));
  const parameters = [
    ["secret", secret.replace(/[\s=]/g, "")],
    ["issuer", issuer],
    ["algorithm", isOther(settings.algorithm, "SHA1") ? settings.algorithm : null],
    ["digits", isOther(settings.digits, "6") ? settings.digits : null],
    ["period", isOther(settings.period, "30") ? settings.period : null],
    ["counter", kind === "hotp" ? (settings.counter ?? 0) : null],
    ["encoder", settings.encoder],
  ] as const;
  const query = parameters.flatMap(([name, value]) =>
    value == null || value === "" ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `otpauth://${kind}/${label.join(":")}?${query.join("&")}`;
}

function isOther(value: string | number | null | undefined, usual: string): boolean {
  return value != null && String(value) !== "" && String(value) !== usual;
}
