import type { ErrorCode } from "@relicario/shared/errors";
import { Button, Muted, s, space, SpacedRow } from "@relicario/shared/ui";
import { useEffect, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

export interface SignInFailedProps {
  readonly code: ErrorCode;
  readonly onRetry: () => void;
  readonly children?: ReactNode;
}

/** Says that the sign-in failed and why, and offers a retry. */
export function SignInFailed({ code, onRetry, children }: SignInFailedProps) {
  const { t } = useTranslation(["header", "errors"]);
  useEffect(() => {
    document.title = t("header:sign_in_failed.title");
  }, [t]);
  return (
    <Centre>
      <h1>{t("header:sign_in_failed.title")}</h1>
      <Muted role="alert">{t(`errors:${code}`)}</Muted>
      <Button onClick={onRetry}>{t("header:sign_in_failed.retry_action")}</Button>
      {children}
    </Centre>
  );
}

/** Says that the session ended in another tab or at the provider. */
export function SignedOut({ onSignIn }: { readonly onSignIn: () => void }) {
  const { t } = useTranslation("header");
  useEffect(() => {
    document.title = t("signed_out.title");
  }, [t]);
  return (
    <Centre>
      <h1>{t("signed_out.title")}</h1>
      <Muted>{t("signed_out.body")}</Muted>
      <Button onClick={onSignIn}>{t("signed_out.sign_in_action")}</Button>
    </Centre>
  );
}

/** Shown when the host itself crashed. Offers to reload the page or to sign out. */
export function Crashed({ onReload, onLogout }: { readonly onReload: () => void; readonly onLogout: () => void }) {
  const { t } = useTranslation(["header", "beta-sidebar"]);
  return (
    <Centre data-crashed>
      <h1>{t("header:crashed.title")}</h1>
      <Muted role="alert">{t("header:crashed.body")}</Muted>
      <SpacedRow>
        <Button onClick={onReload}>{t("header:crashed.reload_action")}</Button>
        <Button tone="quiet" onClick={onLogout}>
          {t("beta-sidebar:logout_action")}
        </Button>
      </SpacedRow>
    </Centre>
  );
}

const Centre = styled.main`
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  gap: ${space(4)};
  min-height: 100dvh;
  padding: ${space(6)};
  text-align: center;
  & > h1 {
    font-size: ${s("textDisplay")};
  }
`;
