import { usePortal, type AccountOpener, type OpenersOverview, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Button, Card, Muted, Notice, s, SectionTitle, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { FileText, Image, KeyRound } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { ChangePanel } from "./ChangePanel.tsx";
import { RemovePanel } from "./RemovePanel.tsx";

interface OpenerListProps {
  readonly vault: Vault;
  readonly overview: OpenersOverview;
  readonly onChanged: () => void;
  /** Whether the list has just changed: its heading then takes the focus on mount. */
  readonly focused: boolean;
}

interface OpenerAction {
  readonly openerId: string;
  readonly kind: "remove" | "passphrase" | "picture";
}

const icons = { image: Image, recovery_code: FileText, passkey: KeyRound } as const satisfies Record<
  AccountOpener["kind"],
  unknown
>;

/** Openers of the account, with operations to change and remove them. */
export function OpenerList({ vault, overview, onChanged, focused }: OpenerListProps) {
  const { t } = useTranslation("openers");
  const { date } = getFormats(usePortal().language);
  const [activeAction, setActiveAction] = useState<OpenerAction | null>(null);
  const [cancelledAction, setCancelledAction] = useState<OpenerAction | null>(null);
  const [completedCount, setCompletedCount] = useState(0);
  const handleDone = () => {
    setActiveAction(null);
    setCancelledAction(null);
    setCompletedCount(completedCount + 1); // its row may be gone: remount the heading, which takes the focus
    onChanged();
  };
  const handleCancel = () => {
    setActiveAction(null);
    setCancelledAction(activeAction);
    onChanged();
  };
  const { openers, secrets } = overview;
  return (
    <Card aria-labelledby="openers-list">
      <Stack $gap={4}>
        <SectionTitle
          key={completedCount}
          ref={focused || completedCount > 0 ? focusOnMount : null}
          tabIndex={-1}
          id="openers-list"
        >
          {t("list.title")}
        </SectionTitle>
        {openers.length === 1 && <Notice tone="warn">{t("list.single_body")}</Notice>}
        <List aria-labelledby="openers-list">
          {openers.map((opener) => {
            const Icon = icons[opener.kind];
            return (
              <li key={opener.id}>
                <Icon aria-hidden />
                <Stack $gap={2}>
                  <strong>{opener.name}</strong>
                  <Muted>{t(`list.${opener.kind}_body`, { date: date(opener.createdAt) })}</Muted>
                  <SmallText>
                    {t("list.opens_body", { opens: opener.secretCount, count: secrets.length })}{" "}
                    {opener.copyCheckedAt === null
                      ? t("list.never_body")
                      : t("list.rehearsed_body", { date: date(opener.copyCheckedAt) })}
                  </SmallText>
                  {opener.soleOpenerOf.length > 0 && openers.length > 1 && (
                    <SmallText>{t("list.only_body", { count: opener.soleOpenerOf.length })}</SmallText>
                  )}
                  {!opener.hasSlot && <Notice tone="danger">{t("list.unserved_body")}</Notice>}
                  {activeAction?.openerId === opener.id && (
                    <div ref={focusOnMount} tabIndex={-1}>
                      {activeAction.kind === "remove" ? (
                        <RemovePanel
                          vault={vault}
                          opener={opener}
                          overview={overview}
                          onDone={handleDone}
                          onCancel={handleCancel}
                        />
                      ) : (
                        <ChangePanel
                          vault={vault}
                          opener={opener}
                          target={activeAction.kind}
                          onDone={handleDone}
                          onCancel={handleCancel}
                        />
                      )}
                    </div>
                  )}
                  {activeAction?.openerId !== opener.id && (
                    <SpacedRow>
                      {(opener.kind === "image"
                        ? (["passphrase", "picture", "remove"] as const)
                        : (["remove"] as const)
                      ).map((kind) => (
                        <Button
                          key={kind}
                          ref={
                            cancelledAction?.openerId === opener.id && cancelledAction.kind === kind
                              ? focusOnMount
                              : null
                          }
                          tone="plain"
                          size="small"
                          aria-label={t(`list.${kind}_aria`, { name: opener.name })}
                          onClick={() => {
                            setActiveAction({ openerId: opener.id, kind });
                          }}
                        >
                          {t(`list.${kind}_action`)}
                        </Button>
                      ))}
                    </SpacedRow>
                  )}
                </Stack>
              </li>
            );
          })}
        </List>
      </Stack>
    </Card>
  );
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  overflow-wrap: anywhere;
  & > li {
    display: grid;
    grid-template-columns: 24px minmax(0, 1fr);
    gap: ${space(3)};
    padding-top: ${space(4)};
    border-top: 1px solid ${s("border")};
  }
  & > li > svg {
    color: ${s("textMuted")};
  }
`;
