import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { HttpError, toPortalError } from "../errors/index.ts";
import { Button } from "./Button.tsx";
import { useErrorMessage } from "./error-message.ts";
import { s, space } from "./tokens.ts";
import { renderVerbatim } from "./Verbatim.tsx";

export type NoticeTone = "info" | "success" | "warn" | "danger";

export interface NoticeProps {
  readonly tone?: NoticeTone;
  readonly title?: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /**
   * Role for screen readers, which read `status` when they are idle and `alert` at once. Omit it
   * for a notice that is present from the start.
   */
  readonly role?: "status" | "alert";
}

const icons = { info: Info, success: CircleCheck, warn: TriangleAlert, danger: CircleAlert } as const;

/** Message to the person. Its icon and colour only repeat what the text says. */
export function Notice({ tone = "info", title, children, actions, role }: NoticeProps) {
  const Icon = icons[tone];
  return (
    <NoticeBox role={role} data-tone={tone}>
      <Icon aria-hidden size={20} />
      <Body>
        {title !== undefined && <strong>{renderVerbatim(title)}</strong>}
        {children !== undefined && <div>{children}</div>}
        {actions !== undefined && <Actions>{actions}</Actions>}
      </Body>
    </NoticeBox>
  );
}

export interface ErrorNoticeProps {
  /** Any thrown value. Null and `cancelled` show nothing. */
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** Further actions. */
  readonly children?: ReactNode;
}

/**
 * Shows the translation of an error by its code, and for a refused picture by its reason. Never
 * shows the error's message.
 */
export function ErrorNotice({ error, onRetry, children }: ErrorNoticeProps) {
  const { t } = useTranslation("common");
  const getErrorMessage = useErrorMessage();
  if (error == null) return null;
  const { code, cause } = toPortalError(error);
  if (code === "cancelled") return null;
  const reference = cause instanceof HttpError ? cause.requestId : null;
  return (
    <Notice
      tone="danger"
      role="alert"
      actions={
        onRetry === undefined ? undefined : (
          <Button tone="quiet" size="small" onClick={onRetry}>
            {t("error.retry_action")}
          </Button>
        )
      }
    >
      <p>{getErrorMessage(error)}</p>
      {children}
      {reference !== null && <Reference>{t("error.reference_hint", { reference })}</Reference>}
    </Notice>
  );
}

const NoticeBox = styled.div`
  display: flex;
  align-items: flex-start;
  gap: ${space(3)};
  padding: ${space(3)} ${space(4)};
  border-radius: ${s("radius")};
  color: ${s("text")};
  & > svg {
    flex: none;
    margin-top: 2px;
  }

  &[data-tone="info"] {
    background: ${s("accentSoft")};
  }
  &[data-tone="info"] > svg {
    color: ${s("accentText")};
  }
  &[data-tone="success"] {
    background: ${s("successSoft")};
  }
  &[data-tone="success"] > svg {
    color: ${s("successText")};
  }
  &[data-tone="warn"] {
    background: ${s("warnSoft")};
  }
  &[data-tone="warn"] > svg {
    color: ${s("warnText")};
  }
  &[data-tone="danger"] {
    background: ${s("dangerSoft")};
  }
  &[data-tone="danger"] > svg {
    color: ${s("dangerText")};
  }
`;

const Body = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  min-width: 0;
  max-width: ${s("lineLength")};
  & strong {
    font-weight: 650;
  }
  & ul {
    list-style: disc;
    padding-left: ${space(5)};
  }
`;

const Actions = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(2)};
  margin-top: ${space(2)};
`;

const Reference = styled.p`
  font-size: ${s("textTiny")};
  overflow-wrap: anywhere;
`;
