import { geoNaturalEarth1, geoPath } from "d3-geo";
import type { ReactElement } from "react";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import atlas from "world-atlas/countries-110m.json";
import { formatCountry } from "../format/country.ts";
import type { Figure } from "../format/figure.ts";
import { PlotFrame } from "./as-table.tsx";
import { countryOfNumber } from "./country-numbers.ts";
import { heightOf } from "./pixels.ts";
import { Reading } from "./reading.tsx";
import { Scale } from "./scale.tsx";
import { shadeOf } from "./shade.ts";
import { useCursor } from "./use-cursor.ts";
import { useWidth } from "./use-width.ts";

export type CountryFigure = { readonly country: string; readonly value: Figure };

export type WorldMapProps = {
  readonly title: string;
  readonly says: string;
  /** The largest first. */
  readonly figures: readonly CountryFigure[];
  readonly format: (value: Figure) => string;
  readonly onPick: (country: string) => void;
};

/** The size for which the shapes are computed; the drawing is scaled. */
const SIZE = { width: 800, height: 390 };
/** Antarctica has no visitors and would take a sixth of the map. */
const LEFT_OUT = "010";

type Shape = { readonly key: string; readonly code: string | undefined; readonly path: string };
type Place = { readonly x: number; readonly y: number };

const { shapes, places } = drawShapes();

/** Countries, the darker the more. Arrow keys go from the largest to the smallest, Enter opens one. */
export function WorldMap(props: WorldMapProps): ReactElement {
  const { title, says, figures, format } = props;
  const rows = figures.map(({ country, value }) => [formatCountry(country), format(value)]);
  return (
    <PlotFrame title={title} says={says} table={{ columns: ["Country", title], rows }}>
      <Countries {...props} />
    </PlotFrame>
  );
}

function Countries({ title, figures, format, onPick }: WorldMapProps): ReactElement {
  const { frame, width } = useWidth();
  const drawn = figures.filter(({ country }) => places.has(country));
  const hidden = figures.length - drawn.length;
  const pick = (index: number): void => {
    const country = drawn[index]?.country;
    if (country !== undefined) onPick(country);
  };
  const { at, setAt, onKeyDown } = useCursor({ count: drawn.length, onPick: pick });
  const indexes = new Map(drawn.map(({ country }, index) => [country, index]));
  const largest = Math.max(0, ...drawn.map(({ value }) => heightOf(value) ?? 0));
  const read = at === undefined ? undefined : drawn[at];
  const scale = width / SIZE.width;
  const place = read === undefined ? undefined : places.get(read.country);
  const marked = shapes.find(({ code }) => code !== undefined && code === read?.country);
  return (
    <div className="plot" ref={frame}>
      <svg
        height={SIZE.height * scale}
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label={`${title}: ${drawn.length} countries, arrow keys read them`}
        tabIndex={0}
        className="opens"
        onKeyDown={onKeyDown}
        onPointerLeave={() => setAt(undefined)}
      >
        {shapes.map(({ key, code, path }) => {
          const index = code === undefined ? undefined : indexes.get(code);
          return (
            <path
              key={key}
              className="country"
              d={path}
              {...shadeOf(index === undefined ? null : drawn[index]?.value, largest)}
              data-country={code}
              onPointerEnter={() => setAt(index)}
              onClick={() => index !== undefined && pick(index)}
            />
          );
        })}
        {marked !== undefined && <path className="mark" d={marked.path} />}
      </svg>
      {read !== undefined && place !== undefined && (
        <Reading at={place.x * scale} top={place.y * scale} width={width}>
          <strong>{formatCountry(read.country)}</strong>
          <div>{format(read.value)}</div>
        </Reading>
      )}
      <Scale />
      {hidden > 0 && (
        <p className="muted">
          {hidden} more that the map cannot show, such as small countries, are in the table.
        </p>
      )}
    </div>
  );
}

function drawShapes(): { shapes: readonly Shape[]; places: ReadonlyMap<string, Place> } {
  const topology = worldTopology();
  const { countries } = topology.objects;
  const land = feature(topology, countries).features.filter(({ id }) => id !== LEFT_OUT);
  const projection = geoNaturalEarth1().fitSize([SIZE.width, SIZE.height], {
    type: "FeatureCollection",
    features: land,
  });
  const draw = geoPath(projection).digits(1);
  const known = new Map<string, Place>();
  const drawn = land.map((one, at): Shape => {
    const code = one.id === undefined ? undefined : countryOfNumber(String(one.id));
    const [x, y] = draw.centroid(one);
    if (code !== undefined) known.set(code, { x, y });
    return { key: String(one.id ?? `shape ${at}`), code, path: draw(one) ?? "" };
  });
  return { shapes: drawn, places: known };
}

type World = Topology<{ countries: GeometryCollection }>;

/** JSON has no literal types, so the compiler cannot see that it is a topology. */
function worldTopology(): World {
  const json: unknown = atlas;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the file of the package has one form, which a test reads
  return json as World;
}
