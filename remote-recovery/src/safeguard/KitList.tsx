import { maxKitsOfSecret } from "@relicario/shared/api";
import { usePortal, type SecretRow } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Card, Muted, s, SectionTitle, SmallText, space, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useTitlesOf } from "./title-of.ts";

interface KitListProps {
  readonly rows: readonly SecretRow[];
}

/** The kits that labels name, the newest first, and which are out of date. */
export function KitList({ rows }: KitListProps) {
  const { t } = useTranslation("safeguard");
  const titlesOf = useTitlesOf(rows);
  const { dateTime } = formatsOf(usePortal().language);
  const kits = kitsOf(rows);
  if (kits.length === 0) return null;
  return (
    <Card aria-labelledby="kits-title">
      <Stack $gap={4}>
        <Stack $gap={2}>
          <SectionTitle id="kits-title">{t("kits.title")}</SectionTitle>
          <Muted>{t("kits.body", { count: maxKitsOfSecret })}</Muted>
        </Stack>
        <List>
          {kits.map(({ sha256, madeAt, holds, outdated }) => (
            <li key={sha256}>
              <strong>{t("kits.made_title", { date: dateTime(madeAt) })}</strong>
              <State data-state={outdated.length === 0 ? "current" : "outdated"}>
                {t(outdated.length === 0 ? "kits.current_status" : "kits.outdated_status")}
              </State>
              <Muted>{t("kits.holds_body", { titles: titlesOf(holds) })}</Muted>
              {outdated.length > 0 && <Muted>{t("kits.outdated_body", { titles: titlesOf(outdated) })}</Muted>}
              <SmallText>{t("kits.digest_body", { start: sha256.slice(0, 16) })}</SmallText>
            </li>
          ))}
        </List>
      </Stack>
    </Card>
  );
}

interface KnownKit {
  readonly sha256: string;
  readonly madeAt: string;
  /** Ids of its secrets, and of those among them that changed since. */
  readonly holds: readonly string[];
  readonly outdated: readonly string[];
}

function kitsOf(rows: readonly SecretRow[]): KnownKit[] {
  const kits = new Map<string, KnownKit>();
  for (const { secretId, label } of rows) {
    for (const { sha256, madeAt, outdated } of label?.kits ?? []) {
      const kit = kits.get(sha256) ?? { sha256, madeAt, holds: [], outdated: [] };
      kits.set(sha256, {
        ...kit,
        holds: [...kit.holds, secretId],
        outdated: outdated ? [...kit.outdated, secretId] : kit.outdated,
      });
    }
  }
  return [...kits.values()].sort((left, right) => (left.madeAt < right.madeAt ? 1 : -1));
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

const State = styled.span`
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
