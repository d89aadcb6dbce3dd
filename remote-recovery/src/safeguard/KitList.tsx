import { maxKitsPerSecret } from "@relicario/shared/api";
import { usePortal, type SecretRow } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import {
  Card,
  markVerbatim,
  Muted,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  space,
  Stack,
} from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useSecretTitles } from "./secret-titles.ts";

interface KitListProps {
  readonly rows: readonly SecretRow[];
}

/** Lists kits recorded in labels, newest first, and marks outdated ones. */
export function KitList({ rows }: KitListProps) {
  const { t } = useTranslation("safeguard");
  const joinTitles = useSecretTitles(rows);
  const { dateTime } = getFormats(usePortal().language);
  const kits = collectKits(rows);
  if (kits.length === 0) return null;
  return (
    <Card aria-labelledby="kits-title">
      <Stack $gap={4}>
        <Stack $gap={2}>
          <SectionTitle id="kits-title">{t("kits.title")}</SectionTitle>
          <Muted>{t("kits.body", { count: maxKitsPerSecret })}</Muted>
        </Stack>
        <List>
          {kits.map(({ sha256, createdAt, secretIds, outdatedIds }) => (
            <li key={sha256}>
              <strong>{t("kits.made_title", { date: dateTime(createdAt) })}</strong>
              <StatusBadge data-state={outdatedIds.length === 0 ? "current" : "outdated"}>
                {t(outdatedIds.length === 0 ? "kits.current_status" : "kits.outdated_status")}
              </StatusBadge>
              <Muted>{renderVerbatim(t("kits.holds_body", { titles: markVerbatim(joinTitles(secretIds)) }))}</Muted>
              {outdatedIds.length > 0 && (
                <Muted>
                  {renderVerbatim(t("kits.outdated_body", { titles: markVerbatim(joinTitles(outdatedIds)) }))}
                </Muted>
              )}
              <SmallText>{t("kits.digest_body", { start: sha256.slice(0, 16) })}</SmallText>
            </li>
          ))}
        </List>
      </Stack>
    </Card>
  );
}

interface ListedKit {
  readonly sha256: string;
  readonly createdAt: string;
  /** `outdatedIds` are the secrets that changed after the kit was created. */
  readonly secretIds: readonly string[];
  readonly outdatedIds: readonly string[];
}

function collectKits(rows: readonly SecretRow[]): ListedKit[] {
  const kits = new Map<string, ListedKit>();
  for (const { secretId, label } of rows) {
    for (const { sha256, createdAt, outdated } of label?.kits ?? []) {
      const kit = kits.get(sha256) ?? { sha256, createdAt, secretIds: [], outdatedIds: [] };
      kits.set(sha256, {
        ...kit,
        secretIds: [...kit.secretIds, secretId],
        outdatedIds: outdated ? [...kit.outdatedIds, secretId] : kit.outdatedIds,
      });
    }
  }
  return [...kits.values()].sort((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  margin: 0;
  padding: 0;
  list-style: none;
  overflow-wrap: anywhere;
`;

const StatusBadge = styled.span`
  display: inline-block;
  margin-left: ${space(2)};
  padding: 0 ${space(2)};
  border-radius: ${s("radiusSmall")};
  color: ${s("successText")};
  background: ${s("successSoft")};
  font-size: ${s("textSmall")};
  &[data-state="outdated"] {
    color: ${s("warnText")};
    background: ${s("warnSoft")};
  }
`;
