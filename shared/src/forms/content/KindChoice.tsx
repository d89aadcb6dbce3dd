import { FileText, IdCard, KeyRound, NotepadText } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { ContentKind } from "../../contract/contents.ts";
import { media, s, space } from "../../ui/tokens.ts";

export interface KindChoiceProps {
  readonly legend: string;
  readonly value: ContentKind;
  readonly disabled: boolean;
  readonly onChange: (kind: ContentKind) => void;
}

const kinds = [
  { kind: "text", Icon: NotepadText },
  { kind: "seed", Icon: KeyRound },
  { kind: "record", Icon: IdCard },
  { kind: "file", Icon: FileText },
] as const;

/** Radio group for the content kind. */
export function KindChoice({ legend, value, disabled, onChange }: KindChoiceProps) {
  const { t } = useTranslation("common");
  return (
    <Group disabled={disabled}>
      <legend>{legend}</legend>
      <div>
        {kinds.map(({ kind, Icon }) => (
          <label key={kind} data-checked={kind === value}>
            <input
              type="radio"
              name="kind"
              value={kind}
              checked={kind === value}
              onChange={() => {
                onChange(kind);
              }}
            />
            <Icon aria-hidden size={20} />
            <span>{t(`kind.${kind}_label`)}</span>
          </label>
        ))}
      </div>
    </Group>
  );
}

const Group = styled.fieldset`
  min-width: 0;
  & > legend {
    margin-bottom: ${space(2)};
    font-weight: 600;
  }
  & > div {
    display: grid;
    grid-template-columns: repeat(4, minmax(0, 1fr));
    gap: ${space(2)};
  }
  & label {
    position: relative;
    display: flex;
    align-items: center;
    justify-content: center;
    gap: ${space(2)};
    min-height: 48px;
    padding: ${space(2)};
    border: 1px solid ${s("border")};
    border-radius: ${s("radius")};
    font-weight: 550;
    line-height: 1.2;
    text-align: center;
    cursor: pointer;
  }
  & label > svg {
    flex: none;
    color: ${s("textMuted")};
  }
  & label[data-checked="true"] {
    border-color: ${s("accent")};
    box-shadow: inset 0 0 0 1px ${s("accent")};
    background: ${s("accentSoft")};
  }
  & label[data-checked="true"] > svg {
    color: ${s("accentText")};
  }
  & label:has(:focus-visible) {
    outline: 2px solid ${s("focus")};
    outline-offset: 2px;
  }
  & input {
    position: absolute;
    inset: 0;
    margin: 0;
    opacity: 0;
    cursor: pointer;
  }
  ${media.mobile} {
    & > div {
      grid-template-columns: repeat(2, minmax(0, 1fr));
    }
    & label {
      flex-direction: column;
      min-height: 72px;
      font-size: ${s("textSmall")};
      gap: ${space(1)};
    }
  }
`;
