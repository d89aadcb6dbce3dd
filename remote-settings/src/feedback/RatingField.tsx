import { media, s, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

const ratings = [1, 2, 3, 4, 5] as const;
export type Rating = (typeof ratings)[number];

interface RatingFieldProps {
  readonly value: Rating | null;
  readonly onChange: (rating: Rating) => void;
}

export function RatingField({ value, onChange }: RatingFieldProps) {
  const { t } = useTranslation("user-feedback");
  return (
    <Group>
      <legend>{t("rating_label")}</legend>
      <Row>
        {ratings.map((rating) => (
          <Choice key={rating} data-checked={rating === value}>
            <input
              type="radio"
              name="rating"
              value={rating}
              checked={rating === value}
              onChange={() => {
                onChange(rating);
              }}
            />
            <span aria-hidden>{rating}</span>
            <RatingText>{t(`rating.${String(rating)}`)}</RatingText>
          </Choice>
        ))}
      </Row>
    </Group>
  );
}

const Group = styled.fieldset`
  min-width: 0;
  & > legend {
    margin-bottom: ${space(2)};
    font-weight: 600;
  }
`;

const Row = styled.div`
  display: grid;
  grid-template-columns: repeat(5, minmax(0, 1fr));
  gap: ${space(2)};
  ${media.mobile} {
    grid-template-columns: minmax(0, 1fr);
  }
`;

const Choice = styled.label`
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  gap: ${space(1)};
  min-height: 64px;
  padding: ${space(2)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  text-align: center;
  font-weight: 600;
  cursor: pointer;
  & > input {
    width: 20px;
    height: 20px;
    margin: 0;
    accent-color: ${s("accent")};
  }
  ${media.mobile} {
    flex-direction: row;
    justify-content: flex-start;
    gap: ${space(3)};
    min-height: 44px;
    padding: ${space(2)} ${space(3)};
  }
  &[data-checked="true"] {
    border-color: ${s("accent")};
    box-shadow: inset 0 0 0 1px ${s("accent")};
  }
`;

const RatingText = styled.span`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  font-weight: 400;
`;
