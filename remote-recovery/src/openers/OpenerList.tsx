import { usePortal, type AccountOpener, type OpenersOverview, type Vault } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, Card, Muted, Notice, s, SectionTitle, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { FileText, Image, KeyRound } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { takeFocus } from "../flow/take-focus.ts";
import { ChangePanel } from "./ChangePanel.tsx";
import { RemovePanel } from "./RemovePanel.tsx";

interface OpenerListProps {
  readonly vault: Vault;
  readonly overview: OpenersOverview;
  readonly onChanged: () => void;
  /** Something new stands here: the heading takes the focus when it comes. */
  readonly focused: boolean;
}

interface Act {
  readonly id: string;
  readonly what: "remove" | "passphrase" | "picture";
}

const icons = { image: Image, recovery_code: FileText, passkey: KeyRound } as const satisfies Record<
  AccountOpener["kind"],
  unknown
>;

/** The openers of the account, and the way to take one away. */
export function OpenerList({ vault, overview, onChanged, focused }: OpenerListProps) {
  const { t } = useTranslation("openers");
  const { date } = formatsOf(usePortal().language);
  const [acting, setActing] = useState<Act | null>(null);
  const [left, setLeft] = useState<Act | null>(null);
  const [done, setDone] = useState(0);
  const handleDone = () => {
    setActing(null);
    setLeft(null);
    setDone(done + 1); // its row may go: the heading comes anew
    onChanged();
  };
  const handleCancel = () => {
    setActing(null);
    setLeft(acting);
    onChanged();
  };
  const { openers, secrets } = overview;
  return (
    <Card aria-labelledby="openers-list">
      <Stack $gap={4}>
        <SectionTitle key={done} ref={focused || done > 0 ? takeFocus : null} tabIndex={-1} id="openers-list">
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
                    {t("list.opens_body", { opens: opener.opens, count: secrets.length })}{" "}
                    {opener.rehearsedAt === null
                      ? t("list.never_body")
                      : t("list.rehearsed_body", { date: date(opener.rehearsedAt) })}
                  </SmallText>
                  {opener.onlyWayTo.length > 0 && openers.length > 1 && (
                    <SmallText>{t("list.only_body", { count: opener.onlyWayTo.length })}</SmallText>
                  )}
                  {!opener.served && <Notice tone="danger">{t("list.unserved_body")}</Notice>}
                  {acting?.id === opener.id && (
                    <div ref={takeFocus} tabIndex={-1}>
                      {acting.what === "remove" ? (
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
                          what={acting.what}
                          onDone={handleDone}
                          onCancel={handleCancel}
                        />
                      )}
                    </div>
                  )}
                  {acting?.id !== opener.id && (
                    <SpacedRow>
                      {(opener.kind === "image"
                        ? (["passphrase", "picture", "remove"] as const)
                        : (["remove"] as const)
                      ).map((what) => (
                        <Button
                          key={what}
                          ref={left?.id === opener.id && left.what === what ? takeFocus : null}
                          tone="plain"
                          size="small"
                          aria-label={t(`list.${what}_aria`, { name: opener.name })}
                          onClick={() => {
                            setActing({ id: opener.id, what });
                          }}
                        >
                          {t(`list.${what}_action`)}
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
