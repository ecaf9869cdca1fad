// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * HBase's own client, which does to one row what it is told, a line at a time:
 *
 *   put Q TEXT | append Q TEXT | add Q NUMBER | delete Q | get Q... | count Q
 *
 * and answers "BEGIN END ok RESULT...", "BEGIN END refused WHY" where the region was not there, so that nothing has
 * happened, or "BEGIN END failed WHY" where it may have been done: the times as System.nanoTime tells them, for get a
 * value of each column in base 64, "-" where there is none. It does not try a second time, for a put without a timestamp
 * that is made twice may come after what others have put in between.
 *
 * usage: Racer HOST:PORT TABLE ROW
 */
public class Racer {
  static final byte[] FAMILY = Bytes.toBytes("f");
  static final Pattern REFUSALS = Pattern.compile("NotServingRegionException|RegionMovedException|RegionOpeningException"
      + "|RegionServerStoppedException|RegionServerAbortedException|ServerNotRunningYetException|ConnectException"
      + "|FailedServerException|failed servers list");

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.client.bootstrap.servers", args[0]);
    conf.setInt("hbase.client.retries.number", 0);
    conf.setInt("hbase.client.operation.timeout", 10000);
    conf.setInt("hbase.rpc.timeout", 5000);
    byte[] row = Bytes.toBytes(args[2]);
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Table table = connection.getTable(TableName.valueOf(args[1]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
      System.out.println("ready");
      for (String line; (line = in.readLine()) != null;) {
        long begin = System.nanoTime();
        String outcome;
        try {
          outcome = "ok " + act(table, row, line.split(" "));
        } catch (Exception e) {
          String why = e.toString().replace('\n', ' ');
          outcome = (REFUSALS.matcher(why).find() ? "refused " : "failed ") + why;
          Thread.sleep(300);
        }
        System.out.println(begin + " " + System.nanoTime() + " " + outcome);
      }
    }
  }

  static String act(Table table, byte[] row, String[] words) throws Exception {
    byte[] column = Bytes.toBytes(words[1]);
    switch (words[0]) {
      case "put":
        table.put(new Put(row).addColumn(FAMILY, column, Bytes.toBytes(words[2] + "\n")));
        return "";
      case "append":
        table.append(new Append(row).addColumn(FAMILY, column, Bytes.toBytes(words[2] + "\n")));
        return "";
      case "add":
        table.increment(new Increment(row).addColumn(FAMILY, column, Long.parseLong(words[2])));
        return "";
      case "delete":
        table.delete(new Delete(row).addColumns(FAMILY, column));
        return "";
      case "count":
        byte[] count = table.get(new Get(row).addColumn(FAMILY, column)).getValue(FAMILY, column);
        return "" + (count == null ? 0 : Bytes.toLong(count));
      case "get":
        Get get = new Get(row);
        for (int i = 1; i < words.length; i++) get.addColumn(FAMILY, Bytes.toBytes(words[i]));
        Result result = table.get(get);
        return Stream.of(words).skip(1).map(q -> text(result.getValue(FAMILY, Bytes.toBytes(q)))).collect(Collectors.joining(" "));
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  static String text(byte[] value) {
    return value == null ? "-" : Base64.getEncoder().encodeToString(value) + "=";
  }
}
