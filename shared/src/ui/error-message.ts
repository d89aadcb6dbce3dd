import { useTranslation } from "react-i18next";

import { toPortalError, type PortalError } from "../errors/index.ts";

/**
 * Names of formats that are recognised but not supported, by `details.kind`. They need no
 * translation.
 */
const formatNames: Readonly<Record<string, string>> = {
  gif: "GIF",
  bmp: "BMP",
  tiff: "TIFF",
  svg: "SVG",
  jpeg_xl: "JPEG XL",
  jpeg_2000: "JPEG 2000",
  psd: "Photoshop",
  pdf: "PDF",
  webp: "WebP",
  avif: "AVIF",
  heic: "HEIC",
};
const rawFormats: ReadonlySet<string> = new Set(["cr2", "cr3", "crw", "nef", "arw", "dng", "raf", "orf", "rw2", "x3f"]);
const animatedFormats: Readonly<Record<string, string>> = { animated_webp: "WebP", animated_avif: "AVIF" };
const rareJpegs = {
  twelve_bit_jpeg: "twelve_bit",
  lossless_jpeg: "lossless",
  arithmetic_jpeg: "arithmetic",
  jpeg: "other",
} as const;

/**
 * Returns a function that translates any thrown value by its code. For a refused picture it returns
 * the reason, with advice.
 */
export function useErrorMessage(): (error: unknown) => string {
  const { t, i18n } = useTranslation("errors");
  return (cause) => {
    const error = toPortalError(cause);
    if (error.code === "picture_too_large") return describeTooLarge(error);
    if (error.code === "picture_too_plain") return describeTooPlain(error);
    if (error.code === "clock_wrong") return describeClocks(error);
    if (error.code !== "picture_unreadable") return t(error.code);
    const { reason } = error.details;
    switch (reason) {
      case "empty":
      case "not_a_picture":
      case "broken":
      case "too_small":
        return t(`picture_reason.${reason}`);
      case "unsupported":
        return describeUnsupported(error);
      default:
        return t("picture_unreadable");
    }
  };

  function describeClocks({ code, details: { device, service } }: PortalError): string {
    const locale = i18n.resolvedLanguage === "es" ? "es" : "en-GB"; // the locale that shared/i18n uses
    const clockFormat = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
    const formatTime = (time: unknown) => (typeof time === "number" ? clockFormat.format(time) : "?");
    return t(code, { device: formatTime(device), service: formatTime(service) });
  }

  function describeTooLarge({ details: { width, height } }: PortalError): string {
    return typeof width === "number" && typeof height === "number"
      ? t("picture_reason.too_large", { width, height })
      : t("picture_too_large");
  }

  function describeTooPlain({ details: { reasons } }: PortalError): string {
    return Array.isArray(reasons) && reasons.includes("transparent")
      ? t("picture_reason.transparent")
      : t("picture_too_plain");
  }

  function describeUnsupported({ details: { kind } }: PortalError): string {
    if (typeof kind !== "string") return t("picture_unreadable");
    if (kind === "cmyk_jpeg") return t("picture_reason.cmyk");
    if (kind === "video") return t("picture_reason.video");
    if (rawFormats.has(kind)) return t("picture_reason.raw", { name: kind.toUpperCase() });
    if (isRareJpeg(kind)) return t("picture_reason.rare_jpeg", { name: t(`picture_reason.${rareJpegs[kind]}_name`) });
    const animatedFormat = animatedFormats[kind];
    if (animatedFormat !== undefined) return t("picture_reason.animated", { name: animatedFormat });
    const name = formatNames[kind];
    return name === undefined ? t("picture_unreadable") : t("picture_reason.kind", { name });
  }
}

function isRareJpeg(kind: string): kind is keyof typeof rareJpegs {
  return kind in rareJpegs;
}
