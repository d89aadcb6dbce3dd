import type { Language } from "@relicario/shared/contract";

/** The flag of a language. Decorative: always next to a text or a label. */
export function Flag({ language }: { readonly language: Language }) {
  return (
    <svg viewBox="0 0 24 16" width={24} height={16} aria-hidden focusable="false">
      <clipPath id={`flag-${language}`}>
        <rect width="24" height="16" rx="3" />
      </clipPath>
      <g clipPath={`url(#flag-${language})`}>{language === "es" ? <Spain /> : <Britain />}</g>
    </svg>
  );
}

function Spain() {
  return (
    <>
      <rect width="24" height="16" fill="#c60b1e" />
      <rect y="4" width="24" height="8" fill="#ffc400" />
      <rect x="5" y="6" width="3" height="4" rx="1" fill="#c60b1e" />
    </>
  );
}

function Britain() {
  return (
    <>
      <rect width="24" height="16" fill="#012169" />
      <path d="M0 0 24 16M24 0 0 16" stroke="#fff" strokeWidth="3.2" />
      <path d="M0 0 24 16M24 0 0 16" stroke="#c8102e" strokeWidth="1.4" />
      <path d="M12 0v16M0 8h24" stroke="#fff" strokeWidth="5" />
      <path d="M12 0v16M0 8h24" stroke="#c8102e" strokeWidth="3" />
    </>
  );
}
