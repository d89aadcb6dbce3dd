import { depths, s, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { keyframes, styled } from "styled-components";

/** Covers the page while the browser goes to the identity provider or returns. Below dialogs. */
export function Overlay({ kind }: { readonly kind: "signing_in" | "signing_out" }) {
  const { t } = useTranslation("header");
  return (
    <Cover role="status" aria-live="polite">
      <Ring aria-hidden />
      <p>{t(kind === "signing_in" ? "overlay.signing_in_status" : "overlay.signing_out_status")}</p>
    </Cover>
  );
}

const spin = keyframes`
  to { transform: rotate(1turn); }
`;

const Cover = styled.div`
  position: fixed;
  inset: 0;
  z-index: ${depths.overlay};
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  gap: ${space(4)};
  background: ${s("background")};
  color: ${s("textMuted")};
`;

const Ring = styled.span`
  width: 36px;
  height: 36px;
  border: 3px solid ${s("border")};
  border-top-color: ${s("accent")};
  border-radius: 50%;
  animation: ${spin} 900ms linear infinite;
`;
